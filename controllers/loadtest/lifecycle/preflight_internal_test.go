package lifecycle

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A number that is read before the first step is asked for like the answer to a preflight.
func TestReadingMayAskAsTheClient(t *testing.T) {
	client := []v1beta1.Header{{Name: "x-client"}}
	audits := func(own []v1beta1.Header) []v1beta1.Audit {
		return []v1beta1.Audit{
			{Name: "contract", RateLimit: &v1beta1.RateLimit{Capacity: 20, RefillPerSecond: v1beta1.NewDecimal("0.5"), ClientHeader: "X-Client"}},
			{Name: "items", Stored: &v1beta1.Stored{Read: v1beta1.Reading{HTTP: &v1beta1.Query{Headers: own}}}},
		}
	}
	for name, tt := range map[string]struct {
		target, own []v1beta1.Header
		want        bool
	}{
		"the target's headers name the client":      {target: client, want: true},
		"the reading's own headers name the client": {own: client, want: true},
		"no header names the client":                {},
	} {
		spec := &v1beta1.LoadTestSpec{Target: v1beta1.Target{Headers: tt.target}, Audits: audits(tt.own)}
		same.As(t, name+": asks as the client", tt.want, asksAsClient(spec))
	}
}

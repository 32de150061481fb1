package v1beta1_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

func TestThinkTimesAreATimeOrARange(t *testing.T) {
	for in, want := range map[v1beta1.Think][2]time.Duration{
		"":            {},
		"2s":          {2 * time.Second, 2 * time.Second},
		"1s-3s":       {time.Second, 3 * time.Second},
		"0s-1000µs":   {0, time.Millisecond},
		"500ms-1.5s":  {500 * time.Millisecond, 1500 * time.Millisecond},
		"1m30s-1h":    {90 * time.Second, time.Hour},
		"100ms-100ms": {100 * time.Millisecond, 100 * time.Millisecond},
	} {
		shortest, longest, err := in.Range()
		if err != nil || shortest != want[0] || longest != want[1] {
			t.Errorf("%q is %v to %v (%v), want %v", in, shortest, longest, err, want)
		}
	}
	for _, in := range []v1beta1.Think{"0s", "3s-1s", "1s-", "-1s", "1s-2s-3s", "2", "61m", "999us", "1s - 2s"} {
		if shortest, longest, err := in.Range(); err == nil {
			t.Errorf("%q is %v to %v, want an error", in, shortest, longest)
		}
	}
}

package v1beta1_test

import (
	"encoding/json"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A number keeps its quotes, or has none: a client that writes back what it has read
// must not change the spec.
func TestDecimalIsWrittenAsItWasRead(t *testing.T) {
	for in, want := range map[string]string{`100`: "100", `"100"`: "100", `"0.5"`: "0.5"} {
		var d v1beta1.Decimal
		must.Succeed(t, json.Unmarshal([]byte(in), &d))
		out, err := json.Marshal(d)
		if err != nil || string(out) != in || d.String() != want {
			t.Errorf("%s is written as %s (%v) and reads %q, want %q", in, out, err, d.String(), want)
		}
	}
}

func TestExpectedValuesAreComparedAsText(t *testing.T) {
	for in, want := range map[string]string{
		`"lua"`: "lua", `"50"`: "50", `50`: "50", `1.5`: "1.5", `true`: "true", `null`: "null", `""`: "", `"a\"b"`: `a"b`,
	} {
		v := v1beta1.ExpectedValue{Equals: apiextensionsv1.JSON{Raw: []byte(in)}}
		same.As(t, "the text of "+in, want, v.Text())
	}
	same.As(t, "text", `a"b`, (&v1beta1.ExpectedValue{Equals: v1beta1.JSONText(`a"b`)}).Text())
}

func TestDurationsThatMayBeAbsent(t *testing.T) {
	same.As(t, "an absent duration", time.Duration(0), v1beta1.OrZero(nil))
	same.As(t, "a duration", time.Second, v1beta1.OrZero(&metav1.Duration{Duration: time.Second}))
}

// What has no size must not seem to have room.
func TestSizesOfJSON(t *testing.T) {
	same.As(t, "a list", len(`["a"]`), v1beta1.JSONSize([]string{"a"}))
	if size := v1beta1.JSONSize(func() {}); size < 2<<20 {
		t.Errorf("what cannot be written takes %d bytes", size)
	}
}

func TestRangesOfThinkTimes(t *testing.T) {
	if shortest, longest := (*v1beta1.Think)(nil).Range(); shortest != 0 || longest != 0 {
		t.Errorf("no think time is %v to %v", shortest, longest)
	}
	for _, good := range []*v1beta1.Think{nil, v1beta1.NewThink(0, time.Millisecond), v1beta1.NewThink(time.Second, 3*time.Second), v1beta1.NewThink(time.Hour, time.Hour)} {
		if err := good.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []*v1beta1.Think{{}, v1beta1.NewThink(-1, time.Second), v1beta1.NewThink(2*time.Second, time.Second), v1beta1.NewThink(0, time.Millisecond-1), v1beta1.NewThink(0, time.Hour+1)} {
		if bad.Check() == nil {
			t.Errorf("%v is taken for a range", bad)
		}
	}
}

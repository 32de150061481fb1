package v1alpha1_test

import (
	"encoding/json"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A number keeps its quotes, or has none: a client that writes back what it has read
// must not change the spec.
func TestDecimalIsWrittenAsItWasRead(t *testing.T) {
	for in, want := range map[string]string{`100`: "100", `"100"`: "100", `"0.5"`: "0.5"} {
		var d v1alpha1.Decimal
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
		v := v1alpha1.ExpectedValue{Equals: apiextensionsv1.JSON{Raw: []byte(in)}}
		if got := v.Text(); got != want {
			t.Errorf("the text of %s is %q, want %q", in, got, want)
		}
	}
	if got := (&v1alpha1.ExpectedValue{Equals: v1alpha1.JSONText(`a"b`)}).Text(); got != `a"b` {
		t.Errorf("a text becomes %q", got)
	}
}

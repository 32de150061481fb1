package html

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// A page is shown to others: no header of either target carries what one could log in
// with.
func TestManifestHidesCredentials(t *testing.T) {
	secret := "hunter2"
	headers := func() []v1alpha1.Header { return []v1alpha1.Header{{Name: "X-Api-Key", Value: &secret}} }
	lt := &v1alpha1.LoadTest{}
	lt.Spec.Target.Headers = headers()
	lt.Spec.Requests = []v1alpha1.Request{{Headers: headers()}}
	lt.Spec.Preflight = []v1alpha1.Preflight{{Request: v1alpha1.Query{Headers: headers()}}}
	lt.Spec.Versus = &v1alpha1.Versus{Target: v1alpha1.Target{Headers: headers()}, Preflight: []v1alpha1.Preflight{{Request: v1alpha1.Query{Headers: headers()}}}}
	text, err := manifest(lt)
	if err != nil || strings.Contains(text, secret) || strings.Count(text, "(left out)") != 5 {
		t.Errorf("%v\n%s", err, text)
	}
}

package html

import (
	"strings"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// manifest is the LoadTest as a person would write it. A page is shown to others:
// values of headers that carry credentials are left out.
func manifest(lt *v1alpha1.LoadTest) (string, error) {
	object := struct {
		APIVersion string                `json:"apiVersion"`
		Kind       string                `json:"kind"`
		Metadata   map[string]string     `json:"metadata"`
		Spec       v1alpha1.LoadTestSpec `json:"spec"`
	}{v1alpha1.GroupVersion.String(), "LoadTest", map[string]string{"name": lt.Name}, *lt.Spec.DeepCopy()}
	if lt.Namespace != "" {
		object.Metadata["namespace"] = lt.Namespace
	}
	hide(object.Spec.Target.Headers)
	if v := object.Spec.Versus; v != nil {
		hide(v.Target.Headers)
		for i := range v.Preflight {
			hide(v.Preflight[i].Request.Headers)
		}
	}
	for i := range object.Spec.Requests {
		hide(object.Spec.Requests[i].Headers)
	}
	for i := range object.Spec.Preflight {
		hide(object.Spec.Preflight[i].Request.Headers)
	}
	data, err := yaml.Marshal(object)
	return string(data), err
}

// hide replaces what a reader could log in with.
func hide(headers []v1alpha1.Header) {
	for i := range headers {
		name := strings.ToLower(headers[i].Name)
		for _, word := range []string{"authorization", "cookie", "token", "secret", "password", "key"} {
			if headers[i].Value != nil && strings.Contains(name, word) {
				headers[i].Value = ptr.To("(left out)")
			}
		}
	}
}

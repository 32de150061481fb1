package html

import (
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/credential"
)

// manifest is the LoadTest as a person would write it. A page is shown to others:
// values of headers that carry credentials are left out.
func manifest(lt *v1beta1.LoadTest) (string, error) {
	object := struct {
		APIVersion string               `json:"apiVersion"`
		Kind       string               `json:"kind"`
		Metadata   map[string]string    `json:"metadata"`
		Spec       v1beta1.LoadTestSpec `json:"spec"`
	}{v1beta1.GroupVersion.String(), "LoadTest", map[string]string{"name": lt.Name}, *lt.Spec.DeepCopy()}
	if lt.Namespace != "" {
		object.Metadata["namespace"] = lt.Namespace
	}
	hide(object.Spec.Target.Headers)
	for i := range object.Spec.OtherTargets {
		hide(object.Spec.OtherTargets[i].Headers)
	}
	if v := object.Spec.Versus; v != nil {
		hideInQuestions(v.Preflight)
	}
	for i := range object.Spec.Requests {
		hide(object.Spec.Requests[i].OwnHeaders())
	}
	hideInQuestions(object.Spec.Preflight)
	for i := range object.Spec.Audits {
		if s := object.Spec.Audits[i].Stored; s != nil {
			hide(s.Read.OwnHeaders())
		}
	}
	data, err := yaml.Marshal(object)
	return string(data), err
}

func hideInQuestions(list []v1beta1.Preflight) {
	for i := range list {
		hide(list[i].OwnHeaders())
	}
}

// hide replaces what a reader could log in with.
func hide(headers []v1beta1.Header) {
	for i := range headers {
		if headers[i].Value != nil && credential.InHeader(headers[i].Name) {
			headers[i].Value = ptr.To("(left out)")
		}
	}
}

package v1beta1_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMain(m *testing.M) { apiserver.Start(m) }

// base is a LoadTest without a fault; the tests change it by merge patches.
const base = `
apiVersion: loadtest.dev/v1beta1
kind: LoadTest
metadata: {name: base}
spec:
  target: {url: http://shortener:8080}
  requests: [{name: health, http: {path: /health}}]
  steps: [{name: 1 users x 1, users: 1, requestsPerUser: 1}]
`

// loadTest returns the base after a merge patch of its spec, in YAML.
func loadTest(t *testing.T, namespace, specPatch string) *unstructured.Unstructured {
	t.Helper()
	return patched(t, base, namespace, specPatch)
}

// patched is an object in a namespace, after a merge patch of its spec, both in YAML.
func patched(t *testing.T, object, namespace, specPatch string) *unstructured.Unstructured {
	t.Helper()
	original, err := yaml.YAMLToJSON([]byte(object))
	must.Succeed(t, err)
	patch, err := yaml.YAMLToJSON([]byte("spec: " + specPatch))
	if err != nil {
		t.Fatalf("the patch %s: %v", specPatch, err)
	}
	merged, err := jsonpatch.MergePatch(original, patch)
	must.Succeed(t, err)
	result := &unstructured.Unstructured{}
	must.Succeed(t, result.UnmarshalJSON(merged))
	result.SetNamespace(namespace)
	return result
}

// strictClient refuses fields that the API does not have, as kubectl does.
func strictClient(t *testing.T) client.Client {
	t.Helper()
	return client.WithFieldValidation(apiserver.Client(t), metav1.FieldValidationStrict)
}

// unchecked is what the API server adds when it did not come to the CEL rules.
const unchecked = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// refusals returns why the API server refused an object, as kubectl prints it:
// a sentence with the path in front of it for each reason, sorted, but for the
// notice unchecked, which says nothing of the object.
func refusals(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Fatalf("the error is not a refusal by validation: %v", err)
	}
	var sentences []string
	for _, cause := range status.Status().Details.Causes {
		sentence := cause.Field + ": " + cause.Message
		if !strings.Contains(err.Error(), sentence) {
			t.Errorf("what a person reads, %q, does not say %q", err, sentence)
		}
		if sentence != unchecked {
			sentences = append(sentences, sentence)
		}
	}
	slices.Sort(sentences)
	return sentences
}

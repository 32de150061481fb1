package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What is said of a part stays. What its fields mean is said once, where the path is shortest, and a property
// that is called description is no description.
func TestFieldsAreDescribedOnce(t *testing.T) {
	const long = "is described by a sentence that is longer than what refers to it and by one more for good measure as is usual."
	link := "\n                  description: link is of this.\n                  type: object\n                  properties:\n" +
		"                    description: {type: string}\n                    url: {type: string, description: url " + long + "}"
	before := "spec:\n  versions:\n  - schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n" +
		"          spec:\n            type: object\n            properties:\n" +
		"              other:" + link + "\n              target:" + link +
		"\n              short: {type: object, properties: {a: {type: string, description: short}}}" +
		"\n              shorter: {type: object, properties: {a: {type: string, description: short}}}\n"
	got, err := shortened([]byte(before))
	must.Succeed(t, err)
	want := `---
spec:
  versions:
  - schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              other:
                description: |-
                  link is of this.
                  Fields: see spec.target.
                properties:
                  description:
                    type: string
                  url:
                    type: string
                type: object
              short:
                properties:
                  a:
                    description: short
                    type: string
                type: object
              shorter:
                properties:
                  a:
                    description: short
                    type: string
                type: object
              target:
                description: link is of this.
                properties:
                  description:
                    type: string
                  url:
                    description: url is described by a sentence that is longer than
                      what refers to it and by one more for good measure as is usual.
                    type: string
                type: object
            type: object
        type: object
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	again, err := shortened(got)
	must.Succeed(t, err)
	if diff := cmp.Diff(string(got), string(again)); diff != "" {
		t.Errorf("a second time:\n%s", diff)
	}
}

// Fields of a status, and what Kubernetes describes elsewhere, are described by a sentence here, beside all that we say of
// what people write.
func TestWhatIsSaidElsewhereIsDescribedInASentence(t *testing.T) {
	for properties, says := range map[string]map[string]bool{
		`spec: {description: spec is 1.5 of a. It stays., type: object},
			status: {description: "status is v1.2 of b.\nIt goes.", type: object, properties: {description: {description: description is a field, type: string}}}`: {
			"spec is 1.5 of a. It stays.": true, "status is v1.2 of b.": true, "It goes.": false, "description is a field": true,
		},
		`kind: {description: Kind is a string. It goes.},
			spec: {properties: {worker: {properties: {tolerations: {description: tolerations are of us. It stays., items: {properties: {key: {description: Key is of them. It goes.}}}}}}}}`: {
			"Kind is a string.": true, "tolerations are of us. It stays.": true, "Key is of them.": true, "It goes.": false,
		},
	} {
		got, err := shortened([]byte("spec: {versions: [{schema: {openAPIV3Schema: {properties: {" + properties + "}}}}]}"))
		must.Succeed(t, err)
		for text, want := range says {
			same.As(t, text, want, strings.Contains(string(got), text))
		}
	}
}

// Plain kubectl apply keeps the definition in an annotation, of which an API server takes no more than
// 262,144 bytes. The bounds are what was reached, with room for a field: who needs more looks first
// whether it can be said shorter.
func TestDefinitionsCanBeApplied(t *testing.T) {
	for name, bound := range map[string]int{"loadtests": 246_000, "loadtestschedules": 173_000} {
		definition := must.ReadFile(t, "../../config/crd/bases/loadtest.dev_"+name+".yaml")
		compact, err := yaml.YAMLToJSON(definition)
		must.Succeed(t, err)
		t.Logf("definition of %s: %d bytes, of which descriptions take %d and rules %d", name, len(compact), bytesOf(t, compact, "description"), bytesOf(t, compact, "x-kubernetes-validations"))
		if len(compact) > bound {
			t.Errorf("the definition of %s takes %d bytes, at most %d", name, len(compact), bound)
		}
	}
}

// bytesOf is how many bytes the values of a key take, wherever it is.
func bytesOf(t *testing.T, text []byte, key string) (n int) {
	t.Helper()
	var whole any
	must.Succeed(t, json.Unmarshal(text, &whole))
	var look func(any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				if name == key {
					one, err := json.Marshal(value)
					must.Succeed(t, err)
					n += len(one)
					continue
				}
				look(value)
			}
		case []any:
			for _, value := range v {
				look(value)
			}
		}
	}
	look(whole)
	return n
}

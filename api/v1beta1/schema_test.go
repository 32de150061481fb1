package v1beta1_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// foreign are the types of Kubernetes' own below which the rules are not ours to
// keep, with the reason.
var foreign = map[reflect.Type]string{
	reflect.TypeFor[metav1.TypeMeta]():             "every kind has it",
	reflect.TypeFor[metav1.ObjectMeta]():           "every kind has it; the API server bounds it",
	reflect.TypeFor[corev1.ResourceRequirements](): "the API server validates it when the Job is created",
	reflect.TypeFor[corev1.Toleration]():           "the API server validates it when the Job is created",
}

// jsonName is how a field of the API is spelled.
var jsonName = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

// maxDescription is how many bytes the description of a field may have: the effect,
// the exception and an example.
const maxDescription = 300

// node is a place in the schema, with the Go type it was generated from.
type node struct {
	path   string // as the API server spells it: spec.steps[].users
	name   string // the field's JSON name; empty for items and values
	schema apiextensionsv1.JSONSchemaProps
	typ    reflect.Type
	// elsewhere says that a node above refers to another, which describes the same fields.
	elsewhere bool
}

// refers says whether a schema's fields are described elsewhere (hack/crdtext).
func refers(s apiextensionsv1.JSONSchemaProps) bool {
	return strings.Contains(s.Description, "Fields: see ")
}

func (n node) spec() bool { return strings.HasPrefix(n.path, "spec.") }

// walk visits a node and, in order of their names, those below it.
func walk(n node, visit func(node)) {
	for n.typ.Kind() == reflect.Pointer {
		n.typ = n.typ.Elem()
	}
	if _, ok := foreign[n.typ]; ok {
		return
	}
	visit(n)
	fields, elsewhere := jsonFields(n.typ), n.elsewhere || refers(n.schema)
	for _, name := range slices.Sorted(maps.Keys(n.schema.Properties)) {
		if typ, ok := fields[name]; ok {
			path := strings.TrimPrefix(n.path+"."+name, ".")
			walk(node{path, name, n.schema.Properties[name], typ, elsewhere}, visit)
		}
	}
	if n.schema.Items != nil {
		walk(node{n.path + "[]", "", *n.schema.Items.Schema, n.typ.Elem(), elsewhere}, visit)
	}
	if n.schema.AdditionalProperties != nil {
		walk(node{n.path + "{}", "", *n.schema.AdditionalProperties.Schema, n.typ.Elem(), elsewhere}, visit)
	}
}

// jsonFields returns the types of a struct's fields by JSON name. Inlined
// structs are looked through, unless they are foreign.
func jsonFields(typ reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	if typ.Kind() != reflect.Struct {
		return fields
	}
	for field := range typ.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		_, isForeign := foreign[field.Type]
		switch {
		case options == "inline" && !isForeign:
			maps.Copy(fields, jsonFields(field.Type))
		case name != "":
			fields[name] = field.Type
		}
	}
	return fields
}

// violations says where the schema of a LoadTest breaks the rules of this API.
func violations(root apiextensionsv1.JSONSchemaProps) []string {
	return violationsOf(reflect.TypeFor[v1beta1.LoadTest](), root)
}

// violationsOf says where the schema of a type breaks them.
func violationsOf(typ reflect.Type, root apiextensionsv1.JSONSchemaProps) []string {
	var found []string
	walk(node{schema: root, typ: typ}, func(n node) {
		for _, problem := range problems(n) {
			found = append(found, n.path+": "+problem)
		}
	})
	return found
}

// problems are the rules.
func problems(n node) []string {
	var found []string
	check := func(ok bool, problem string) {
		if !ok {
			found = append(found, problem)
		}
	}
	s := n.schema
	check(s.Default == nil || !strings.Contains(n.path, "[]"), "has a default inside a list, which a comparison of manifests takes for a difference in each item")
	if n.name != "" {
		check(jsonName.MatchString(n.name), "is not spelled in lower camel case")
		check(n.elsewhere || strings.HasPrefix(s.Description, n.name+" "), "has a description that does not begin with its name")
	}
	own, _, _ := strings.Cut(s.Description, "\nFields: see ")
	check(len(own) <= maxDescription || strings.HasSuffix(n.path, "spec.thresholds[].metric") || n.typ == reflect.TypeFor[metav1.Condition]() || strings.HasPrefix(n.path, "status.conditions[]."), "has a description of more than 300 characters")
	switch s.Type {
	case "array":
		check(s.MaxItems != nil, "is a list without maxItems")
		check(s.XListType != nil, "is a list without a list type")
	case "object":
		check(s.AdditionalProperties == nil || s.MaxProperties != nil, "is a map without maxProperties")
	case "string":
		check(bounded(n), "is a string without maxLength, enum or format")
	case "integer":
		check(!n.spec() || s.Minimum != nil && s.Maximum != nil, "is an integer without minimum and maximum")
	case "number":
		check(false, "is a floating-point number")
	}
	check(len(s.Enum) == 0 || n.typ.Kind() == reflect.String && n.typ.Name() != "string", "is an enum whose Go type is not a string type of its own")
	check(n.name != "conditions" || isConditions(n), "are conditions that are not a map list of metav1.Condition by type")
	return found
}

func bounded(n node) bool {
	switch {
	case n.schema.MaxLength != nil, len(n.schema.Enum) > 0, n.schema.Format != "":
		return true
	case n.typ == reflect.TypeFor[metav1.Duration]():
		return !n.spec() // in status the operator writes it
	case strings.Contains(n.path, "spec.worker.") && strings.HasSuffix(n.path, "{}"):
		return true // by a CEL rule; no marker reaches the values of a map
	}
	return false
}

func isConditions(n node) bool {
	return n.typ == reflect.TypeFor[[]metav1.Condition]() && n.schema.XListType != nil &&
		*n.schema.XListType == "map" && slices.Equal(n.schema.XListMapKeys, []string{"type"})
}

func TestSchemaKeepsTheRules(t *testing.T) {
	for _, violation := range violations(generatedSchema(t, nil)) {
		t.Error(violation)
	}
}

// What lists the values of an enum lists all of them.
func TestListsOfEnumsAreWhole(t *testing.T) {
	var phases, verdicts []string
	for _, phase := range v1beta1.Phases() {
		phases = append(phases, string(phase))
	}
	for _, verdict := range v1beta1.Verdicts() {
		verdicts = append(verdicts, string(verdict))
	}
	listed := map[reflect.Type][]string{reflect.TypeFor[v1beta1.Phase](): phases, reflect.TypeFor[v1beta1.Verdict](): verdicts}
	found := 0
	walk(node{schema: generatedSchema(t, nil), typ: reflect.TypeFor[v1beta1.LoadTest]()}, func(n node) {
		list, ok := listed[n.typ]
		if !ok {
			return
		}
		found++
		var enum []string
		for _, value := range n.schema.Enum {
			enum = append(enum, strings.Trim(string(value.Raw), `"`))
		}
		same.As(t, n.path, enum, list)
	})
	if found < len(listed) {
		t.Errorf("found %d fields of such types", found)
	}
}

// TestSchemaRulesCanFail breaks the generated schema in one place at a time.
func TestSchemaRulesCanFail(t *testing.T) {
	tests := map[string]struct {
		at     string // below the root, dots between
		remove string
		set    map[string]any
		want   []string
	}{
		"a list without a bound": {at: "spec.properties.steps", remove: "maxItems",
			want: []string{"spec.steps: is a list without maxItems"}},
		"a list without a type": {at: "spec.properties.steps", remove: "x-kubernetes-list-type",
			want: []string{"spec.steps: is a list without a list type"}},
		"a string without a bound": {at: "spec.properties.requests.items.properties.http.properties.body", remove: "maxLength",
			want: []string{"spec.requests[].http.body: is a string without maxLength, enum or format"}},
		"a list of strings without a bound": {at: "spec.properties.thresholds.items.properties.requests.items", remove: "maxLength",
			want: []string{"spec.thresholds[].requests[]: is a string without maxLength, enum or format"}},
		"a duration without a bound": {at: "spec.properties.target.properties.timeout", remove: "maxLength",
			want: []string{"spec.target.timeout: is a string without maxLength, enum or format"}},
		"a time without a format": {at: "status.properties.startTime", remove: "format",
			want: []string{"status.startTime: is a string without maxLength, enum or format"}},
		"a map without a bound": {at: "spec.properties.worker.properties.nodeSelector", remove: "maxProperties",
			want: []string{"spec.worker.nodeSelector: is a map without maxProperties"}},
		"a float": {at: "spec.properties.parallelism", set: map[string]any{"type": "number"},
			want: []string{"spec.parallelism: is a floating-point number"}},
		"an integer without a maximum": {at: "spec.properties.parallelism", remove: "maximum",
			want: []string{"spec.parallelism: is an integer without minimum and maximum"}},
		"a listed integer without a minimum": {at: "spec.properties.ladder.properties.users.items", remove: "minimum",
			want: []string{"spec.ladder.users[]: is an integer without minimum and maximum"}},
		"a default in a list": {at: "spec.properties.requests.items.properties.http.properties.method", set: map[string]any{"default": "GET"},
			want: []string{"spec.requests[].http.method: has a default inside a list, which a comparison of manifests takes for a difference in each item"}},
		"a default of a list's item": {at: "spec.properties.ladder.properties.users.items", set: map[string]any{"default": int64(1)},
			want: []string{"spec.ladder.users[]: has a default inside a list, which a comparison of manifests takes for a difference in each item"}},
		"no description": {at: "spec.properties.suspend", remove: "description",
			want: []string{"spec.suspend: has a description that does not begin with its name"}},
		"a long description": {at: "spec.properties.suspend", set: map[string]any{"description": "suspend " + strings.Repeat("x", 293)},
			want: []string{"spec.suspend: has a description of more than 300 characters"}},
		"a description of something else": {at: "status.properties.verdict", set: map[string]any{"description": "Verdict is the judgement."},
			want: []string{"status.verdict: has a description that does not begin with its name"}},
		"an enum without a type": {at: "spec.properties.worker.properties.image", set: map[string]any{"enum": []any{"a", "b"}},
			want: []string{"spec.worker.image: is an enum whose Go type is not a string type of its own"}},
		"conditions that are not a map": {at: "status.properties.conditions", set: map[string]any{"x-kubernetes-list-type": "atomic"},
			want: []string{"status.conditions: are conditions that are not a map list of metav1.Condition by type"}},
		"conditions by another key": {at: "status.properties.conditions", set: map[string]any{"x-kubernetes-list-map-keys": []any{"reason"}},
			want: []string{"status.conditions: are conditions that are not a map list of metav1.Condition by type"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			broken := generatedSchema(t, func(properties map[string]any) {
				path := strings.Split(test.at, ".")
				schema, found, err := unstructured.NestedMap(properties, path...)
				if !found || err != nil {
					t.Fatalf("there is no schema at %s: %v", test.at, err)
				}
				if _, found := schema[test.remove]; test.remove != "" && !found {
					t.Fatalf("%s has no %s to remove", test.at, test.remove)
				}
				delete(schema, test.remove)
				maps.Copy(schema, test.set)
				must.Succeed(t, unstructured.SetNestedMap(properties, schema, path...))
			})
			same.As(t, "violations", test.want, violations(broken))
		})
	}
}

// TestSchemaRefusesNamesInUpperCase breaks the one rule that no change of the CRD can break, as a
// field that is not in the Go type is not looked at.
func TestSchemaRefusesNamesInUpperCase(t *testing.T) {
	got := problems(node{
		path: "spec.URL", name: "URL", typ: reflect.TypeFor[bool](),
		schema: apiextensionsv1.JSONSchemaProps{Type: "boolean", Description: "URL is set."},
	})
	same.As(t, "problems", []string{"is not spelled in lower camel case"}, got)
}

// TestEveryFieldIsWalked checks the walk itself: a type that it does not look
// through would pass every rule.
func TestEveryFieldIsWalked(t *testing.T) {
	seen := map[string]bool{}
	walk(node{schema: generatedSchema(t, nil), typ: reflect.TypeFor[v1beta1.LoadTest]()}, func(n node) {
		seen[n.path] = true
	})
	for _, path := range []string{
		"spec.target.service.port", "spec.requests[].http.headers[].value", "spec.worker.nodeSelector{}",
		"spec.setup.fill.capture{}", "spec.target.tls.ca.secret.key", "spec.requests[].expect.json[].path",
		"status.conditions[].message", "status.steps[].result.outcomes.dns", "status.steps[].result.types[].sent",
		"status.steps[].result.responseTime.p999", "status.thresholds[].message",
	} {
		if !seen[path] {
			t.Errorf("%s is not walked", path)
		}
	}
}

// generatedCRD reads the CRD as controller-gen wrote it.
func generatedCRD(t *testing.T, resource string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	must.Succeed(t, yaml.UnmarshalStrict(readCRD(t, resource), crd))
	if len(crd.Spec.Versions) != 1 {
		t.Fatalf("the CRD has %d versions, want 1", len(crd.Spec.Versions))
	}
	return crd
}

// generatedSchema returns the CRD's schema, after a change to the properties of
// its root, if there is one.
func generatedSchema(t *testing.T, change func(properties map[string]any)) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	schema := *generatedCRD(t, "loadtests").Spec.Versions[0].Schema.OpenAPIV3Schema
	if change == nil {
		return schema
	}
	var loose map[string]any
	remarshal(t, schema, &loose)
	change(loose["properties"].(map[string]any))
	var changed apiextensionsv1.JSONSchemaProps
	remarshal(t, loose, &changed)
	return changed
}

func readCRD(t *testing.T, resource string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "bases", "loadtest.dev_"+resource+".yaml"))
	if err != nil {
		t.Fatal(fmt.Errorf("%w; run `make generate`", err))
	}
	return text
}

func remarshal(t *testing.T, from, to any) {
	t.Helper()
	text, err := json.Marshal(from)
	must.Succeed(t, err)
	must.Succeed(t, json.Unmarshal(text, to))
}

//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// schemaAbuses are LoadTests that the API server does not store.
var schemaAbuses = []abuse{
	{"credentials in the URL", schema, "spec.target.url", noSpec("target: {url: 'http://me:secret@shortener'}")},
	{"a URL of another scheme", schema, "spec.target.url", noSpec("target: {url: 'file:///etc/passwd'}")},
	{"a path in the URL", schema, "spec.target.url", noSpec("target: {url: 'http://shortener/admin'}")},
	{"a Service of another namespace by its name", schema, "spec.target.service.name", noSpec("target: {service: {name: api.victim}}")},
	{"a Service by a path", schema, "spec.target.service.name", noSpec("target: {service: {name: ../api}}")},
	{"credentials in the proxy's URL", schema, "spec.target.proxy.url", noSpec("target: {service: {name: a}, proxy: {url: 'http://me:secret@proxy'}}")},
	{"CR LF in a header's value", schema, "spec.target.headers[0].value", noSpec(`target: {service: {name: a}, headers: [{name: X, value: "1\r\nX-Admin: yes"}]}`)},
	{"CR LF in a header's name", schema, "spec.target.headers[0].name", noSpec(`target: {service: {name: a}, headers: [{name: "X\r\nY", value: "1"}]}`)},
	{"CR LF in the header of a request", schema, "headers[0].value", noSpec(`requests: [{path: /, headers: [{name: X, value: "1\r\n\r\nGET /admin HTTP/1.1"}]}]`)},
	{"CR LF in a path", schema, "spec.requests[0].path", noSpec(`requests: [{path: "/ HTTP/1.1\r\nHost: other"}]`)},
	{"NUL in a header", schema, "spec.target.headers[0].value", noSpec(`target: {service: {name: a}, headers: [{name: X, value: "a\0b"}]}`)},
	{"a second Host by a space in the path", schema, "spec.requests[0].path", noSpec(`requests: [{path: "/ x"}]`)},
	{"a method of one's own", schema, "spec.requests[0].method", noSpec(`requests: [{path: /, method: "CONNECT"}]`)},
	{"a Secret by a path", schema, "secretKeyRef.name", noSpec(`target: {service: {name: a}, headers: [{name: X, valueFrom: {secretKeyRef: {name: ../../etc, key: a}}}]}`)},
	{"a key that climbs", schema, "secretKeyRef.key", noSpec(`target: {service: {name: a}, headers: [{name: X, valueFrom: {secretKeyRef: {name: a, key: ..data}}}]}`)},
	{"a file that climbs", schema, "configMapKeyRef.key", noSpec(`requests: [{path: /, method: POST, bodyFrom: {configMapKeyRef: {name: a, key: ../../../etc/passwd}}}]`)},
	{"a billion users", schema, "spec.steps[0].users", noSpec("steps: [{users: 1000000000, duration: 1s}]")},
	{"a thousand million requests a second", schema, "spec.steps[0].rate", noSpec("steps: [{rate: '1000000000', duration: 1s}]")},
	{"a step of a year", schema, "spec.steps[0].duration", noSpec("steps: [{rate: 1, duration: 8760h}]")},
	{"no pace and no end", schema, "spec.steps[0]", noSpec("steps: [{users: 1}]")},
	{"a million workers", schema, "spec.parallelism", noSpec("parallelism: 1000000")},
	{"a thousand steps", schema, "spec.steps", noSpec("steps: [" + strings.Repeat("{rate: 1, duration: 1s},", 1000) + "]")},
	{"a thousand requests", schema, "spec.requests", noSpec("requests: [" + strings.Repeat("{path: /},", 1000) + "]")},
	{"a header of a megabyte", schema, "spec.target.headers[0].value", noSpec("target: {service: {name: a}, headers: [{name: X, value: '" + strings.Repeat("x", 1_000_000) + "'}]}")},
	{"a spec beyond a request's size", apiServer, "too large", noSpec("requests: [{path: /, method: POST, body: '" + strings.Repeat("x", 4_000_000) + "'}]")},
	// An unknown field is dropped if the client does not ask for an error.
	{"a service account for the worker", schema, `unknown field "spec.worker.serviceAccountName"`, noField("serviceAccountName", "default")},
	{"a volume of the host", schema, `unknown field "spec.worker.volumes"`, noField("volumes", "[{name: host, hostPath: {path: /}}]")},
	{"a privileged worker", schema, `unknown field "spec.worker.securityContext"`, noField("securityContext", "{privileged: true}")},
	{"the host's network for the worker", schema, `unknown field "spec.worker.hostNetwork"`, noField("hostNetwork", "true")},
	{"a command of one's own for the worker", schema, `unknown field "spec.worker.command"`, noField("command", "[sh, -c, id]")},
	{"a node for the worker by its name", schema, `unknown field "spec.worker.nodeName"`, noField("nodeName", "node-1")},
	{"a variable of the worker's environment", schema, `unknown field "spec.worker.env"`, noField("env", "[{name: LOADTEST_COORDINATOR, value: 'evil:1'}]")},
	{"a JSON path of everything", schema, "path", noSpec(`requests: [{path: /, expect: {json: [{path: "..a", equals: 1}]}}]`)},
	{"a name with a path", schema, "metadata.name", named("../../secrets/api")},
	{"a name with a line break", schema, "metadata.name", named("a\nb")},
	{"a name that is markup", schema, "metadata.name", named("<script>alert(1)</script>")},
	{"a name that is another's host name", schema, "must not contain a dot", named("api.victim")},
	{"a name too long for its pods", schema, "at most 52 characters", named(strings.Repeat("n", 60))},
}

// harmless is a spec that the API server takes.
const harmless = `
target: {service: {name: api}}
requests: [{path: /}]
steps: [{rate: 1, duration: 1s}]
`

// specWith is the harmless spec with other fields, and without those that are null.
func specWith(fields string) string {
	spec := map[string]any{}
	for _, part := range []string{harmless, fields} {
		if err := yaml.Unmarshal([]byte(part), &spec); err != nil {
			panic(fmt.Sprintf("%s: %v", part, err)) // it is a constant
		}
	}
	maps.DeleteFunc(spec, func(_ string, field any) bool { return field == nil })
	text, err := yaml.Marshal(spec)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// noSpec has the API server refuse the harmless spec with these fields.
func noSpec(fields string) func(*testing.T, *people) attempt {
	return func(t *testing.T, people *people) attempt {
		t.Helper()
		return people.attacker.notStored(t, people.attacker.name(), specWith(fields))
	}
}

// noField has the API server refuse a field of spec.worker, and drop it if it may not
// refuse it.
func noField(name, value string) func(*testing.T, *people) attempt {
	return func(t *testing.T, people *people) attempt {
		t.Helper()
		fields := "worker: {" + name + ": " + value + "}"
		lt := people.attacker.loadTest(t, specWith(fields+"\nsuspend: true"))
		if err := people.attacker.editor.Create(t.Context(), lt, client.FieldValidation("Ignore")); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cluster.Delete(t.Context(), lt) }()
		if _, ok, _ := unstructured.NestedFieldNoCopy(lt.Object, "spec", "worker", name); ok {
			return succeeded("the API server stored spec.worker.%s", name)
		}
		return noSpec(fields)(t, people)
	}
}

// named has the API server refuse a name.
func named(name string) func(*testing.T, *people) attempt {
	return func(t *testing.T, people *people) attempt {
		t.Helper()
		return people.attacker.notStored(t, name, harmless)
	}
}

// notStored has the API server refuse a LoadTest, as kubectl sends it.
func (tn *tenant) notStored(t *testing.T, name, spec string) attempt {
	t.Helper()
	lt := tn.loadTest(t, spec)
	lt.SetName(name)
	err := tn.editor.Create(t.Context(), lt, client.FieldValidation("Strict"))
	if err == nil {
		defer func() { _ = cluster.Delete(t.Context(), lt) }()
		return succeeded("the API server stored it")
	}
	if !strings.Contains(name, "/") {
		if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(lt), lt); !apierrors.IsNotFound(err) {
			t.Fatalf("it is not absent: %v", err)
		}
	}
	return byAPI(t, err)
}

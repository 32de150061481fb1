package v1beta1_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// abuses are specs by which a tenant could harm others, and a part of what the API server says
// of each. That the cluster has the schema of this repository, the other abuses of
// `make e2e SUITE=abuse` show.
var abuses = map[string]struct{ patch, words string }{
	"a path in the URL":                            {"{target: {url: 'http://shortener/admin'}}", "spec.target.url"},
	"a Service of another namespace":               {"{target: {url: null, service: {name: api.victim}}}", "spec.target.service.name"},
	"a Service by a path":                          {"{target: {url: null, service: {name: ../api}}}", "spec.target.service.name"},
	"CR LF in the name of a header":                {`{target: {headers: [{name: "X\r\nY", value: "1"}]}}`, "spec.target.headers[0].name"},
	"NUL in the value of a header":                 {`{target: {headers: [{name: X, value: "a\0b"}]}}`, "spec.target.headers[0].value"},
	"a header of a megabyte":                       {"{target: {headers: [{name: X, value: '" + strings.Repeat("x", 1_000_000) + "'}]}}", "spec.target.headers[0].value"},
	"CR LF in the header of a request":             {`{requests: [{name: home, http: {headers: [{name: X, value: "1\r\n\r\nGET /admin HTTP/1.1"}]}}]}`, "spec.requests[0].http.headers[0].value"},
	"CR LF in a path":                              {`{requests: [{name: home, http: {path: "/ HTTP/1.1\r\nHost: other"}}]}`, "spec.requests[0].http.path"},
	"a space in a path":                            {`{requests: [{name: home, http: {path: "/ x"}}]}`, "spec.requests[0].http.path"},
	"a method of one's own":                        {"{requests: [{name: home, http: {method: CONNECT}}]}", "spec.requests[0].http.method"},
	"a key that climbs":                            {"{target: {headers: [{name: X, valueFrom: {secret: {name: a, key: ..data}}}]}}", "secret.key"},
	"a file that climbs":                           {"{requests: [{name: create, http: {method: POST, bodyFrom: {configMap: {name: a, key: ../../../etc/passwd}}}}]}", "configMap.key"},
	"a JSON path of everything":                    {`{requests: [{name: home, http: {}, expect: {json: [{path: "..a", equals: 1}]}}]}`, "spec.requests[0].expect.json[0].path"},
	"a billion users":                              {"{steps: [{name: 1000000000 users, users: 1000000000, duration: 1s}]}", "spec.steps[0].users"},
	"a step of a year":                             {"{steps: [{name: 1/s, rate: 1, duration: 8760h}]}", "spec.steps[0].duration"},
	"a thousand steps":                             {"{steps: [" + strings.Repeat("{rate: 1, duration: 1s},", 1000) + "]}", "spec.steps"},
	"a thousand requests":                          {"{requests: [" + strings.Repeat("{path: /},", 1000) + "]}", "spec.requests"},
	"a million workers":                            {"{parallelism: 1000000}", "spec.parallelism"},
	"a spec beyond the size of a request":          {"{requests: [{name: create, http: {method: POST, body: '" + strings.Repeat("x", 4_000_000) + "'}}]}", "too large"},
	"a pseudo-header in metadata":                  {calling("metadata: [{name: ':authority', value: victim}]"), "metadata[0].name"},
	"a length in metadata":                         {calling("metadata: [{name: Content-Length, value: '0'}]"), "follow from the call"},
	"a deadline of one's own in metadata":          {calling("metadata: [{name: grpc-timeout, value: 1H}]"), "follow from the call"},
	"CR LF in metadata":                            {calling(`metadata: [{name: x, value: "1\r\nx-admin: yes"}]`), "metadata[0].value"},
	"a method that is a path":                      {calling("method: shop.v1.Cart/../../admin"), "grpc.method"},
	"descriptors of a Secret of another namespace": {describedBy("secret: {name: keys, key: k, namespace: victim}"), `unknown field "spec.target.grpc.descriptorsFrom.secret.namespace"`},
	"descriptors of a Secret by a path":            {describedBy("secret: {name: ../../victim, key: k}"), "secret.name"},
	"descriptors that climb":                       {describedBy("configMap: {name: a, key: ../../../etc/passwd}"), "configMap.key"},
}

// calling is a patch with a call, of which these fields are added or replaced.
func calling(fields string) string {
	if !strings.HasPrefix(fields, "method:") {
		fields = "method: shop.v1.Cart/Add, " + fields
	}
	return described("configMap: {name: protos, key: shop.binpb}", fields)
}

// describedBy is a patch with a call whose descriptors are in that place.
func describedBy(source string) string { return described(source, "method: shop.v1.Cart/Add") }

func described(source, call string) string {
	return "{target: {protocol: HTTP/2, grpc: {descriptorsFrom: {" + source + "}}}, requests: [{name: call, grpc: {" + call + "}}]}"
}

func TestSpecsThatCouldHarmOthersAreRefused(t *testing.T) {
	c, namespace := strictClient(t), apiserver.Namespace(t)
	for name, abuse := range abuses {
		err := c.Create(t.Context(), loadTest(t, namespace, abuse.patch), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), abuse.words) {
			t.Errorf("%s is not refused with %q: %.500v", name, abuse.words, err)
		}
	}
	for _, name := range []string{"../../secrets/api", "a\nb", "<script>alert(1)</script>"} {
		object := loadTest(t, namespace, "{}")
		object.SetName(name)
		if err := c.Create(t.Context(), object, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "metadata.name") {
			t.Errorf("the name %q is not refused: %v", name, err)
		}
	}
}

// A field of the pod that the API does not have is refused, and dropped for a client that does
// not ask for an error.
func TestFieldsOfThePodAreNotOnesOwn(t *testing.T) {
	c, lenient, namespace := strictClient(t), apiserver.Client(t), apiserver.Namespace(t)
	for field, value := range map[string]string{
		"serviceAccountName": "default", "volumes": "[{name: host, hostPath: {path: /}}]", "securityContext": "{privileged: true}",
		"hostNetwork": "true", "command": "[sh, -c, id]", "nodeName": "node-1", "env": "[{name: LOADTEST_COORDINATOR, value: 'evil:1'}]",
	} {
		object := loadTest(t, namespace, "{worker: {"+field+": "+value+"}}")
		if err := c.Create(t.Context(), object.DeepCopy(), client.DryRunAll); err == nil || !strings.Contains(err.Error(), `unknown field "spec.worker.`+field+`"`) {
			t.Errorf("spec.worker.%s is not refused: %v", field, err)
		}
		must.Succeed(t, lenient.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Ignore")))
		if _, ok, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "worker", field); ok {
			t.Errorf("spec.worker.%s is stored", field)
		}
	}
}

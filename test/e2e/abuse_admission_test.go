//go:build e2e

package e2e

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// admissionAbuses are LoadTests whose targets never are allowed, which the API server does
// not store.
var admissionAbuses = []abuse{
	{"the metadata address as a URL", admissionPolicy, "spec.target.url: address 169.254.169.254 never is a target", noTarget("url: 'http://169.254.169.254'")},
	{"the metadata address over IPv6 as a URL", admissionPolicy, "fd00:ec2::254", noTarget("url: 'http://[fd00:ec2::254]'")},
	{"the metadata address as a number", admissionPolicy, "2852039166 is not how an address is written", noTarget("url: 'http://2852039166'")},
	{"the metadata address as an IPv4-mapped one", admissionPolicy, "::ffff:169.254.169.254 is not how an address is written", noTarget("url: 'http://[::ffff:169.254.169.254]'")},
	{"the metadata address behind NAT64", admissionPolicy, "64:ff9b::a9fe:a9fe", noTarget("url: 'http://[64:ff9b::a9fe:a9fe]'")},
	{"the metadata service by its name", admissionPolicy, "metadata.google.internal never is a target", noTarget("url: 'http://metadata.google.internal'")},
	{"the loopback address as a URL", admissionPolicy, "127.0.0.1", noTarget("url: 'http://127.0.0.1:8080'")},
	{"the loopback address as the proxy", admissionPolicy, "spec.target.proxy.url: address 127.0.0.1", noTarget("service: {name: api}, proxy: {url: 'http://127.0.0.1:3128'}")},
	{"localhost", admissionPolicy, "localhost", noTarget("url: 'http://localhost:8080'")},
	{"a kubelet", admissionPolicy, "port 10250 of host 10.0.0.1 never is a target", noTarget("url: 'https://10.0.0.1:10250'")},
	{"the API server by its name", admissionPolicy, "kubernetes.default.svc never is a target", noTarget("url: 'https://kubernetes.default.svc'")},
	{"the API server by its full name", admissionPolicy, "kubernetes.default.svc never is a target", noTarget("url: 'https://kubernetes.default.svc.cluster.local.'")},
	{"the operator's coordinator", admissionPolicy, "never is a target", noTarget("url: 'https://loadtest-operator-leader." + operatorNamespace + ".svc:9443'")},
	{"the operator's metrics", admissionPolicy, "never is a target", noTarget("url: 'https://loadtest-operator-metrics." + operatorNamespace + ".svc:8443'")},
	{"the loopback address as a control", admissionPolicy, "spec.versus.target.url: address 127.0.0.1", noSpec("versus: {target: {url: 'http://127.0.0.1'}}")},
	{"the loopback address by a later change", admissionPolicy, "address 127.0.0.1 never is a target", changesTarget},
}

// noTarget has the API server refuse the harmless spec with that target.
func noTarget(target string) func(*testing.T, *people) attempt {
	return noSpec("target: {" + target + "}")
}

// changesTarget changes the target of a LoadTest that is stored.
func changesTarget(t *testing.T, people *people) attempt {
	t.Helper()
	lt := people.attacker.suspended(t)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec": {"target": {"service": null, "url": "http://127.0.0.1"}}}`))
	err := people.attacker.editor.Patch(t.Context(), lt.DeepCopy(), patch) // whatever the operator writes meanwhile
	if stored := lt.DeepCopy(); err != nil {
		if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(lt), stored); err != nil {
			t.Fatal(err)
		}
		if at, _, _ := unstructured.NestedString(stored.Object, "spec", "target", "url"); at != "" {
			return succeeded("the target is %s", at)
		}
	}
	return byAPI(t, err)
}

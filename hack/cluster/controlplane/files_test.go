package controlplane

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/golden"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

var cluster = layout.New("/state")

func TestCommandLines(t *testing.T) {
	all := arguments(cluster)
	if diff := cmp.Diff(slices.Sorted(slices.Values(Components)), slices.Sorted(maps.Keys(all))); diff != "" {
		t.Errorf("components with a command line (-want +got):\n%s", diff)
	}
	for name, args := range all {
		golden.Check(t, name+".args", []byte(strings.Join(args, "\n")+"\n"))
	}
}

func TestConfigurationFiles(t *testing.T) {
	contents, err := files(cluster, "search example.org\nnameserver 10.0.0.53\nnameserver fe80::1%eth0\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range contents {
		golden.Check(t, name, content)
	}
	golden.Check(t, "objects.yaml", []byte(objects()))
}

func TestCorefileWithoutNameServersForwardsNothing(t *testing.T) {
	if text := corefileOf(cluster, nil); strings.Contains(text, "forward") {
		t.Errorf("CoreDNS refuses to start with a forward without a server:\n%s", text)
	}
}

func TestNameservers(t *testing.T) {
	for name, test := range map[string]struct {
		resolvConf string
		want       []string
	}{
		"one":                     {"nameserver 10.0.0.53\n", []string{"10.0.0.53"}},
		"several and other lines": {"# c\nsearch a b\nnameserver 1.1.1.1\noptions x\nnameserver 2001:db8::1", []string{"1.1.1.1", "2001:db8::1"}},
		"with a zone":             {"nameserver fe80::1%eth0\n", nil},
		"no address":              {"nameserver localhost\nnameserver\n", nil},
		"none":                    {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, nameservers(test.resolvConf)); diff != "" {
				t.Errorf("nameservers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObjects(t *testing.T) {
	text := objects()
	if strings.Contains(text, "$") {
		t.Errorf("a placeholder is left:\n%s", text)
	}
	var kinds []string
	for document := range strings.SplitSeq(text, "\n---\n") {
		var object struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, object.Kind+" "+object.Metadata.Name)
	}
	want := []string{
		"Service kube-dns", "EndpointSlice kube-dns", "ClusterRole system:coredns",
		"ClusterRoleBinding system:coredns", "ClusterRoleBinding kube-apiserver-kubelet-client",
		"StorageClass local", "ClusterRole system:volume-provisioner", "ClusterRoleBinding system:volume-provisioner",
		"ClusterRole system:policy-enforcer", "ClusterRoleBinding system:policy-enforcer",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

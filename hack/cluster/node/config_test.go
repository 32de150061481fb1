package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/golden"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

var cluster = layout.New("/state")

func TestConfigurationsOfANode(t *testing.T) {
	node := cluster.Node(2)
	cni, err := networkConfig(node)
	must.Succeed(t, err)
	kubelet, err := kubeletConfig(cluster, node)
	must.Succeed(t, err)
	golden.Check(t, "containerd.toml", []byte(containerdConfig(node)))
	golden.Check(t, "10-bridge.conflist", append(cni, '\n'))
	golden.Check(t, "kubelet.yaml", kubelet)
	golden.Check(t, "kubelet.args", []byte(strings.Join(kubeletArgs(cluster, node), "\n")+"\n"))
	golden.Check(t, "containerd.command", []byte(strings.Join(unshared(node, "containerd", "--config", "c.toml"), "\n")+"\n"))
}

// Two nodes may share an address range's parent and the kernel, nothing else:
// a path or name of one in the configuration of another would be a mix-up.
func TestNodesShareNothing(t *testing.T) {
	rendered := map[int]string{}
	for n := 1; n <= layout.Nodes; n++ {
		node := cluster.Node(n)
		cni, err := networkConfig(node)
		must.Succeed(t, err)
		kubelet, err := kubeletConfig(cluster, node)
		must.Succeed(t, err)
		rendered[n] = strings.Join([]string{
			containerdConfig(node), string(cni), string(kubelet),
			strings.Join(kubeletArgs(cluster, node), "\n"), strings.Join(unshared(node, "x"), "\n"),
		}, "\n")
	}
	for n, text := range rendered {
		for other := 1; other <= layout.Nodes; other++ {
			for _, sign := range []string{layout.NodeName(other), layout.NodeAddress(other), layout.NodeRange(other)} {
				if got, want := strings.Contains(text, sign), n == other; got != want {
					t.Errorf("%q in the configuration of node %d: %t, want %t", sign, n, got, want)
				}
			}
		}
	}
}

func TestEnteredJoinsTheNamespaceOfAProcess(t *testing.T) {
	want := []string{"nsenter", "--mount=/proc/42/ns/mnt", "--", "/bin/kubelet", "--v=1"}
	same.As(t, "command", want, entered(42, "/bin/kubelet", "--v=1"))
}

func TestShellQuotesHold(t *testing.T) {
	for text, want := range map[string]string{
		"/plain": "'/plain'", "/with blank": "'/with blank'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "": "''",
	} {
		same.As(t, fmt.Sprintf("quote(%q)", text), want, quote(text))
	}
}

func TestEveryFixedFolderHasTheNodesOwn(t *testing.T) {
	node := cluster.Node(1)
	folders := own(node)
	var places []string
	for _, place := range FixedFolders() {
		places = append(places, place)
		if folder := folders[place]; !strings.HasPrefix(folder, node.State+"/") && !strings.HasPrefix(folder, node.Run+"/") {
			t.Errorf("%s is %s, which is not the node's", place, folder)
		}
	}
	if len(places) != len(folders) {
		t.Errorf("fixed folders are %q, but %d have an own", places, len(folders))
	}
}

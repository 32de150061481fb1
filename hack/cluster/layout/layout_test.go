package layout

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

func TestNodesHaveAddressesOfTheirOwn(t *testing.T) {
	pods := netip.MustParsePrefix(PodRange)
	control := netip.MustParsePrefix(ControlSubnet).Masked()
	seen := []netip.Prefix{control}
	for n := 1; n <= Nodes; n++ {
		own := netip.MustParsePrefix(NodeRange(n))
		if !pods.Contains(own.Addr()) || own.Bits() != 24 {
			t.Errorf("range %s of node %d is no /24 in %s", own, n, pods)
		}
		for _, other := range seen {
			if own.Overlaps(other) {
				t.Errorf("range %s of node %d overlaps %s", own, n, other)
			}
		}
		seen = append(seen, own)
		if address := netip.MustParseAddr(NodeAddress(n)); !own.Contains(address) || address == own.Addr() {
			t.Errorf("address %s of node %d is no host's in %s", address, n, own)
		}
		if want := NodeAddress(n) + "/24"; NodeSubnet(n) != want {
			t.Errorf("NodeSubnet(%d) = %s, want %s", n, NodeSubnet(n), want)
		}
	}
}

func TestRangesAreReservedForBenchmarks(t *testing.T) {
	reserved := netip.MustParsePrefix("198.18.0.0/15") // RFC 2544
	services, pods := netip.MustParsePrefix(ServiceRange), netip.MustParsePrefix(PodRange)
	if services.Overlaps(pods) {
		t.Errorf("services %s overlap pods %s", services, pods)
	}
	for _, own := range []netip.Prefix{services, pods, netip.MustParsePrefix(ClusterRange)} {
		if !reserved.Contains(own.Addr()) || own.Bits() < reserved.Bits() {
			t.Errorf("%s is not in %s", own, reserved)
		}
	}
	for _, address := range []string{APIService, DNSService} {
		if !services.Contains(netip.MustParseAddr(address)) {
			t.Errorf("service address %s is not in %s", address, services)
		}
	}
	if want := services.Addr().Next().String(); APIService != want {
		t.Errorf("APIService = %s, but the API server takes the first address, %s", APIService, want)
	}
}

func TestNamesFitTheKernelsLimits(t *testing.T) {
	const linkName, socketPath = 15, 107
	for n := 1; n <= Nodes; n++ {
		if name := NodeBridge(n); len(name) > linkName {
			t.Errorf("bridge %q has %d characters, a link's name at most %d", name, len(name), linkName)
		}
		if path := New(DefaultState).Node(n).Socket(); len(path) > socketPath {
			t.Errorf("socket %q has %d characters, at most %d are allowed", path, len(path), socketPath)
		}
	}
	if len(ControlBridge) > linkName {
		t.Errorf("bridge %q is too long", ControlBridge)
	}
}

func TestNodesAreFoundByNameAndNumber(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "node-1": 1, "3": 3, "node-3": 3} {
		if got, err := NodeNumber(text); err != nil || got != want {
			t.Errorf("NodeNumber(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "4", "node-", "node-4", "-1", "1x", "Node-1"} {
		if got, err := NodeNumber(text); err == nil || !strings.Contains(err.Error(), "node-1 to node-3") {
			t.Errorf("NodeNumber(%q) = %d, %v, want an error that names the nodes", text, got, err)
		}
	}
}

func TestEverythingIsInTheTwoFolders(t *testing.T) {
	l := New("/state")
	node := l.Node(2)
	for name, path := range map[string]string{
		"binary": l.Binary("etcd"), "config": l.Config("x"), "secret": l.Secret("x"), "log": l.Log("node-2/kubelet"),
		"data": l.Data("etcd"), "volumes": l.Volumes(), "host": l.Host(), "admin": l.Admin(), "node": node.Path("cni"),
	} {
		if !strings.HasPrefix(path, "/state/") {
			t.Errorf("%s is at %s, outside the state folder", name, path)
		}
	}
	if !strings.HasPrefix(node.Socket(), l.Run+"/node-2/") {
		t.Errorf("socket %s is not in the node's run folder", node.Socket())
	}
	if !strings.HasPrefix(l.Owner(), l.Run+"/") {
		t.Errorf("owner %s would outlive the cluster", l.Owner())
	}
	if strings.HasPrefix(Lock, l.Run+"/") {
		t.Errorf("lock %s would go away with the run folder", Lock)
	}
	if got, want := node.Process("kubelet"), "node-2/kubelet"; got != want {
		t.Errorf("Process = %q, want %q", got, want)
	}
	if got, want := node.Cgroup(), Cgroup+"/node-2"; got != want {
		t.Errorf("Cgroup = %q, want %q", got, want)
	}
}

func TestAuditLogsAreInOrder(t *testing.T) {
	l := New(t.TempDir())
	var want []string
	for _, name := range []string{"audit-2026-11-20T09-00-00.000", "audit-2026-11-20T10-00-00.000", "audit"} {
		want = append(want, l.Log(name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(l.Log(name)), 0o755))
		must.Succeed(t, os.WriteFile(l.Log(name), nil, 0o600))
	}
	if got, err := l.AuditLogs(); err != nil || !slices.Equal(got, want) {
		t.Errorf("AuditLogs() = %q, %v; want %q", got, err, want)
	}
}

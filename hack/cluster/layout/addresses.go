package layout

import (
	"fmt"
	"net/netip"
)

// Nodes is how many nodes the cluster has: the fewest on which a spread over
// hostnames, and the loss of one of them, show.
const Nodes = 3

// The address ranges. Services has room for 32,766, Pods for 255 nodes.
const (
	ServiceRange = "198.18.0.0/17"
	PodRange     = "198.19.0.0/16"
	// ClusterRange covers both: what is not in it is outside the cluster.
	ClusterRange = "198.18.0.0/15"
)

// Addresses that belong to the control plane.
const (
	ControlBridge  = "lt-control"
	ControlAddress = "198.19.0.1"
	ControlSubnet  = "198.19.0.1/24"
	// APIService is the first address of ServiceRange, which the API server
	// gives to the service "kubernetes".
	APIService = "198.18.0.1"
	// DNSService is the tenth, as everywhere.
	DNSService = "198.18.0.10"
	DNSDomain  = "cluster.local"
)

// Ports, the same as in any cluster: each is bound to an address of our own.
const (
	APIPort               = 6443
	EtcdPort              = 2379
	EtcdPeerPort          = 2380
	ControllerManagerPort = 10257
	SchedulerPort         = 10259
	ProxyHealthPort       = 10256
	ProxyMetricsPort      = 10249
	KubeletPort           = 10250
	KubeletHealthPort     = 10248
	DNSPort               = 53
	DNSHealthPort         = 8080
	DNSReadyPort          = 8181
)

// PolicyTable is the table of the firewall that has the NetworkPolicies.
const PolicyTable = "loadtest-policies"

// APIServer is the URL that everything on the host and in pods can reach.
func APIServer() string { return fmt.Sprintf("https://%s:%d", ControlAddress, APIPort) }

// NodeName is the name of node n, counted from 1.
func NodeName(n int) string { return fmt.Sprintf("node-%d", n) }

// NodeBridge is the name of node n's bridge: at most 15 characters, as any link's.
func NodeBridge(n int) string { return "lt-" + NodeName(n) }

// NodeAddress is the address of node n, and the gateway of its pods.
func NodeAddress(n int) string { return nodeRange(n).Addr().Next().String() }

// NodeSubnet is NodeAddress with its prefix length, as a link is configured.
func NodeSubnet(n int) string {
	return netip.PrefixFrom(nodeRange(n).Addr().Next(), 24).String()
}

// NodeRange is the range of node n's pods.
func NodeRange(n int) string { return nodeRange(n).String() }

func nodeRange(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 19, byte(n), 0}), 24)
}

// NodeNumber is the inverse of NodeName. It also takes the bare number, since
// that is what one types.
func NodeNumber(name string) (int, error) {
	for n := 1; n <= Nodes; n++ {
		if name == NodeName(n) || name == fmt.Sprint(n) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("no node %q: the nodes are %s to %s", name, NodeName(1), NodeName(Nodes))
}

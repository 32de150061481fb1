package controlplane

import (
	_ "embed"
	"fmt"
	"net/netip"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

// Names of the configuration files.
const (
	auditFile          = "audit.yaml"
	authenticationFile = "authentication.yaml"
	proxyFile          = "kube-proxy.yaml"
	corefile           = "Corefile"
	resolvFile         = "resolv.conf"
)

// files are all configuration files, by name. resolvConf is the host's.
func files(l layout.Layout, resolvConf string) (map[string][]byte, error) {
	servers := nameservers(resolvConf)
	audit, err := yaml.Marshal(auditPolicy())
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", auditFile, err)
	}
	authentication, err := yaml.Marshal(authentication())
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", authenticationFile, err)
	}
	proxy, err := yaml.Marshal(proxyConfig(l))
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", proxyFile, err)
	}
	return map[string][]byte{
		auditFile:          audit,
		authenticationFile: authentication,
		proxyFile:          proxy,
		corefile:           []byte(corefileOf(l, servers)),
		resolvFile:         []byte(resolvOf(servers)),
	}, nil
}

// authentication allows requests without a certificate or token to the API
// server's health checks only.
func authentication() map[string]any {
	var paths []any
	for _, path := range []string{"/livez", "/readyz", "/healthz"} {
		paths = append(paths, map[string]any{"path": path})
	}
	return map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1",
		"kind":       "AuthenticationConfiguration",
		"anonymous":  map[string]any{"enabled": true, "conditions": paths},
	}
}

// proxyConfig is of the one kube-proxy, which passes for node-1's. Conntrack is
// left as it is: in a container or a small virtual machine its settings may not
// be written.
func proxyConfig(l layout.Layout) map[string]any {
	return map[string]any{
		"apiVersion":         "kubeproxy.config.k8s.io/v1alpha1",
		"kind":               "KubeProxyConfiguration",
		"mode":               "iptables",
		"hostnameOverride":   layout.NodeName(1),
		"bindAddress":        layout.ControlAddress,
		"healthzBindAddress": address(layout.ProxyHealthPort),
		"metricsBindAddress": address(layout.ProxyMetricsPort),
		"clientConnection":   map[string]any{"kubeconfig": l.Kubeconfig(Proxy)},
		"detectLocalMode":    "ClusterCIDR",
		"clusterCIDR":        layout.PodRange,
		"oomScoreAdj":        0,
		"iptables": map[string]any{
			"minSyncPeriod":      "200ms", // the default of 1 s is for large clusters
			"localhostNodePorts": false,
		},
		"conntrack": map[string]any{
			"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s",
		},
	}
}

// corefileOf makes CoreDNS answer for the cluster and, if the host has a name
// server, forward all other names to it.
func corefileOf(l layout.Layout, servers []string) string {
	forward := ""
	if len(servers) > 0 {
		forward = "    forward . " + strings.Join(servers, " ") + "\n"
	}
	return fmt.Sprintf(`.:%d {
    bind %[2]s
    errors
    health %[2]s:%[3]d
    ready %[2]s:%[4]d
    kubernetes %[5]s in-addr.arpa {
        kubeconfig %[6]s
        pods insecure
        ttl 5
    }
%[7]s    cache 5
    loadbalance
}
`, layout.DNSPort, layout.ControlAddress, layout.DNSHealthPort, layout.DNSReadyPort,
		layout.DNSDomain, l.Kubeconfig(DNS), forward)
}

// nameservers are the host's name servers that CoreDNS can use.
func nameservers(resolvConf string) []string {
	var servers []string
	for line := range strings.Lines(resolvConf) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		if address, err := netip.ParseAddr(fields[1]); err == nil && address.Zone() == "" {
			servers = append(servers, address.String())
		}
	}
	return servers
}

// resolvOf is the resolv.conf that kubelets give to pods beside the cluster's
// own: without the host's search domains, so that pods are alike everywhere.
func resolvOf(servers []string) string {
	var content strings.Builder
	for _, server := range servers {
		fmt.Fprintf(&content, "nameserver %s\n", server)
	}
	return content.String()
}

// The users of CoreDNS, the provisioner and the enforcer at the API server.
const (
	dnsUser         = "system:coredns"
	provisionerUser = "system:volume-provisioner"
	enforcerUser    = "system:policy-enforcer"
)

//go:embed objects.yaml
var objectsTemplate string

// objects are the cluster's own API objects, as YAML documents.
func objects() string {
	return strings.NewReplacer(
		"$DNS_SERVICE", layout.DNSService,
		"$CONTROL_ADDRESS", layout.ControlAddress,
		"$DNS_USER", dnsUser,
		"$KUBELET_CLIENT", kubeletClient,
		"$PROVISIONER_USER", provisionerUser,
		"$ENFORCER_USER", enforcerUser,
		"$PROVISIONER", volumeProvisioner,
	).Replace(objectsTemplate)
}

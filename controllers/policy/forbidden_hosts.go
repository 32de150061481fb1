package policy

import (
	"slices"
	"strings"
)

// The admission policy of the chart has the same names and ports, so that the API server
// refuses them before the operator does.

// NeverHosts are names that never are a target, nor any name below them: of the worker
// itself, of the API server, and of the metadata services of clouds.
func NeverHosts() []string {
	return []string{
		"localhost",
		"kubernetes.default", "kubernetes.default.svc",
		"metadata.google.internal", "metadata.goog",
		"instance-data.ec2.internal",
		"metadata.tencentyun.com",
		"metadata.platformequinix.com", "metadata.packet.net",
		"api.metadata.cloud.ibm.com",
	}
}

// NeverPorts are ports at which nodes answer, so that no host is a target there: those of
// the kubelet (10248, 10250, 10255), of kube-proxy (10249, 10256), and of the controller
// manager and the scheduler (10257, 10259). A Service may have them.
func NeverPorts() []uint16 {
	return []uint16{10248, 10249, 10250, 10255, 10256, 10257, 10259}
}

// isNever says whether a place can never be a target by its name.
func (p Place) isNever() bool {
	name := p.Host
	if p.IsService() {
		name = p.Service + "." + p.Namespace + ".svc"
	}
	return slices.ContainsFunc(NeverHosts(), func(host string) bool {
		return name == host || strings.HasSuffix(name, "."+host)
	})
}

// isAtNode says whether a place is a host at a port of nodes.
func (p Place) isAtNode() bool { return !p.IsService() && slices.Contains(NeverPorts(), p.Port) }

package controlplane

import (
	_ "embed"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/provisioner"
)

// Who CoreDNS and our own two are to the API server.
const (
	dnsUser         = "system:coredns"
	provisionerUser = "system:volume-provisioner"
	enforcerUser    = "system:policy-enforcer"
)

//go:embed objects.yaml
var objectsTemplate string

// objects are what the cluster needs in its API, as YAML documents.
func objects() string {
	return strings.NewReplacer(
		"$DNS_SERVICE", layout.DNSService,
		"$CONTROL_ADDRESS", layout.ControlAddress,
		"$DNS_USER", dnsUser,
		"$KUBELET_CLIENT", kubeletClient,
		"$PROVISIONER_USER", provisionerUser,
		"$ENFORCER_USER", enforcerUser,
		"$PROVISIONER", provisioner.Name,
	).Replace(objectsTemplate)
}

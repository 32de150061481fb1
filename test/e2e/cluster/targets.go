package cluster

import (
	"fmt"
	"testing"
)

// Limiter installs the rate limiter into a namespace of its own, with those values.
func Limiter(t *testing.T, values ...string) (ns string) {
	t.Helper()
	return install(t, "ratelimiter", append(values, fmt.Sprintf("networkPolicy.enabled=%t", Enforced())))
}

// EventStore installs the event store into a namespace of its own, with those values.
func EventStore(t *testing.T, values ...string) (ns string) {
	t.Helper()
	return install(t, "eventstore", append(values, "ratelimiter.enabled=false", "eventstore.enabled=true", "eventstore.persistence.enabled=false"))
}

// install installs a service of the chart of targets.
func install(t *testing.T, service string, values []string) (ns string) {
	t.Helper()
	ns = Namespace(t)
	args := []string{"install", "target", TargetsChart, "--namespace", ns, "--wait", "--timeout", Patience.String(),
		"--set", service + ".image.repository=" + Image(service), "--set", service + ".image.tag=" + ImageTag()}
	if Env("CLUSTER", "local") == "local" {
		args = append(args, "--values", TargetsChart+"/values-local.yaml")
	}
	for _, v := range values {
		args = append(args, "--set", v)
	}
	MustCommand(t, "helm", args...)
	return ns
}

// TargetsChart is the chart of the reference systems, for a package of tests.
const TargetsChart = "../../../charts/targets"

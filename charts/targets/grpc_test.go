package targets

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// gRPC is there where its port is given, and only there.
func TestGRPCIsServedWhereItHasAPort(t *testing.T) {
	const enabled = "eventstore.enabled=true"
	for set, want := range map[string]map[string]string{
		enabled: {
			"ratelimiter": "80→http", "ratelimiter-app": "8080→http", "eventstore": "80→http", "eventstore-app": "8080→http",
		},
		enabled + ",ratelimiter.service.grpcPort=7000": {
			"ratelimiter": "80→http 7000→grpc", "ratelimiter-app": "8080→http 9090→grpc", "eventstore": "80→http", "eventstore-app": "8080→http",
		},
		enabled + ",eventstore.service.grpcPort=7000": {
			"ratelimiter": "80→http", "ratelimiter-app": "8080→http", "eventstore": "80→http 7000→grpc", "eventstore-app": "8080→http 9090→grpc",
		},
	} {
		r := render(t, "--set", set)
		got := map[string]string{}
		for name := range want {
			var ports []string
			for _, p := range as[corev1.Service](t, r, "Service/"+name).Spec.Ports {
				ports = append(ports, fmt.Sprintf("%d→%s", p.Port, p.TargetPort.StrVal))
			}
			got[name] = strings.Join(ports, " ")
		}
		same.As(t, fmt.Sprintf("--set %s: ports of Services", set), want, got)
		for key, name := range map[string]string{"Deployment/ratelimiter-app": "ratelimiter", "StatefulSet/eventstore-app": "eventstore"} {
			address := ""
			if strings.Contains(want[name], "grpc") {
				address = ":9090"
			}
			same.As(t, fmt.Sprintf("--set %s: %s serves gRPC on", set, key), address, r.env(t, key)["GRPC_ADDRESS"])
		}
		conf := as[corev1.ConfigMap](t, r, "ConfigMap/ratelimiter-nginx").Data["nginx.conf"]
		if passes := strings.Contains(conf, "server ratelimiter-app:9090;"); passes != strings.Contains(want["ratelimiter"], "grpc") {
			t.Errorf("--set %s: Nginx passes gRPC on: %v", set, passes)
		}
	}
}

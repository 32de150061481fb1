//go:build e2e

package targets

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/audit"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// apiKey is the key of the event store's Secret that holds its API key.
const apiKey = "api-key"

// pods waits until pods of a component are ready, and returns those.
func (x *trial) pods(t *testing.T, component string) (ready []corev1.Pod) {
	t.Helper()
	cluster.Soon(t, func(ctx context.Context) error {
		var pods corev1.PodList
		if err := cluster.API.List(ctx, &pods, client.InNamespace(x.ns), client.MatchingLabels{
			"app.kubernetes.io/name": string(x.Preset.Service), "app.kubernetes.io/component": component,
		}); err != nil {
			return err
		}
		if ready = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil || !cluster.PodReady(&pod) }); len(ready) == 0 {
			return fmt.Errorf("no pod of component %s is ready", component)
		}
		return nil
	})
	return ready
}

// get sends a request to a pod of the service through the API server, past the
// proxy in front of it.
func (x *trial) get(t *testing.T, path string, query map[string]string) []byte {
	t.Helper()
	pod := x.pods(t, "app")[0].Name
	request := cluster.Clientset.CoreV1().RESTClient().Get().Namespace(x.ns).Resource("pods").Name(pod + ":8080").SubResource("proxy").Suffix(path)
	for name, value := range query {
		request.Param(name, value)
	}
	if x.Preset.Service == audit.EventStore {
		request.SetHeader("X-API-Key", x.key(t))
	}
	body, err := request.DoRaw(t.Context())
	if err != nil {
		t.Fatalf("GET %s of %s: %v\n%s", path, pod, err, body)
	}
	return body
}

// statistics asks Redis for the statistics of its commands, with the password that
// is the first line of its configuration.
const statistics = `read -r _ REDISCLI_AUTH </etc/redis/redis.conf && export REDISCLI_AUTH && redis-cli info commandstats`

// taken is how many tokens the rate limiter's Redis has given out.
func (x *trial) taken(t *testing.T) int64 {
	t.Helper()
	pod := x.pods(t, "redis")[0].Name
	n, err := audit.Taken(cluster.MustCommand(t, "kubectl", "-n", x.ns, "exec", pod, "--", "sh", "-c", statistics))
	must.Succeed(t, err)
	return n
}

// key is the API key that the chart has made.
func (x *trial) key(t *testing.T) string {
	t.Helper()
	var secret corev1.Secret
	must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: x.ns, Name: "loadtest-" + x.Preset.Host}, &secret))
	return string(secret.Data[apiKey])
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

//go:build e2e

package judgement

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// driverSpec sends a targets file of vegeta at a rate, by one of the drivers.
const driverSpec = `
target: {service: {name: counter}, timeout: 5s, headers: [{name: Delay, value: 50ms}]}
requests: [{name: replay, http: {targets: {from: {configMap: {name: replay, key: %s}}}}}]
steps: [{name: rate, rate: 100, duration: 2s}]
parallelism: 2
worker: {driver: %s}
`

// checkDrivers sends the same targets at the same rate by our driver and by vegeta's
// Attacker to a target that counts, and takes 50 ms for each response. Counts are the
// same; half of the responses are as fast, within 25 ms.
func checkDrivers(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	target, err := cluster.StartCounterNamed(t.Context(), ns, "", "counter")
	must.Succeed(t, err)
	files := map[string]string{}
	for _, name := range []string{"auto", "vegeta"} {
		files[name] = fmt.Sprintf("GET http://counter/%s\n\nPOST /%s\nContent-Type: text/plain\n", name, name)
	}
	must.Succeed(t, cluster.API.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "replay"}, Data: files}))
	auto := cluster.Create(t, ns, "auto", fmt.Sprintf(driverSpec, "auto", v1beta1.DriverAuto))
	cluster.Finish(t, auto)
	vegeta := cluster.Create(t, ns, "vegeta", fmt.Sprintf(driverSpec, "vegeta", v1beta1.DriverVegeta))
	cluster.Finish(t, vegeta)
	near := "far apart"
	if a, b := median(auto), median(vegeta); a >= 50*time.Millisecond && b >= 50*time.Millisecond && (a-b).Abs() <= 25*time.Millisecond {
		near = "near each other"
	}
	return agree(
		"event loops: due 200, success as sent, received as sent; vegeta: due 200, success as sent, received as sent; medians near each other",
		fmt.Sprintf("%s; %s; medians %s", driven(t, target, auto), driven(t, target, vegeta), near), auto, vegeta)
}

// driven is the engine of a run's only step, and what it counted beside what the target
// received. A busy machine may leave the last request unsent.
func driven(t *testing.T, target cluster.Counter, lt *v1beta1.LoadTest) string {
	t.Helper()
	r := lt.Status.Steps[0].Result
	if r == nil || r.Generator == nil {
		return fmt.Sprintf("%s has no result: %v", lt.Name, lt.Status.Conditions)
	}
	of := func(n int64) string {
		if n != r.Sent || n == 0 {
			return fmt.Sprintf("%d of %d", n, r.Sent)
		}
		return "as sent"
	}
	return fmt.Sprintf("%s: due %d, success %s, received %s", r.Generator.Engine, r.Due, of(r.Outcomes.Success), of(cluster.Received(t, target, lt.Name)))
}

// median is that of the service times; 0: there is none.
func median(lt *v1beta1.LoadTest) time.Duration {
	r := lt.Status.Steps[0].Result
	if r == nil || r.ServiceTime == nil || r.ServiceTime.P50 == nil {
		return 0
	}
	return r.ServiceTime.P50.Duration
}

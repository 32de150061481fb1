//go:build e2e

package runs

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// whole uses what the traffic model has: rows from a ConfigMap, a header from a
// Secret, values captured in a setup, an expectation on the body, a ramp of
// random arrivals.
const whole = `
target:
  service: {name: ratelimiter, port: 80}
  headers:
    - name: X-Token
      valueFrom: {secret: {name: loadtest-token, key: token}}
requests:
  - name: hit
    http:
      path: /api?instance=${instance}
      headers: [{name: X-Forwarded-For, value: "${client}"}]
    expect:
      status: [200]
      json: [{path: .msg, equals: Successfully Hit}]
    items: 3
  - name: first
    weight: 1
    http:
      path: /api
      headers: [{name: X-Forwarded-For, value: 10.5.0.1}]
    expect: {status: [200]}
data:
  - name: clients
    from: {configMap: {name: clients, key: clients.csv}}
    format: CSV
    choice: Sequential
setup:
  fill: {request: first, count: 30, capture: {instance: .instanceId}}
steps:
  - {name: ramp, rate: "50", rampTo: "150", arrivals: Poisson, duration: 3s}
  - {name: paced, users: 30, ratePerUser: "2", duration: 3s}
parallelism: 3
`

// TestTraffic: the whole traffic model in a real cluster, counted by the target.
func TestTraffic(t *testing.T) {
	cluster.OnlyFull(t)
	t.Parallel()
	ns := cluster.Limiter(t, "ratelimiter.capacity=100000")
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }
	rows := "client\n"
	for _, last := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		rows += "10.6.0." + last + "\n"
	}
	must.Succeed(t, cluster.API.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta("clients"), Data: map[string]string{"clients.csv": rows}}))
	must.Succeed(t, cluster.API.Create(t.Context(), &corev1.Secret{ObjectMeta: meta("loadtest-token"), StringData: map[string]string{"token": "s3cret"}}))
	before, machine := cluster.Ask(t, ns), pressure.Start()
	lt := cluster.Create(t, ns, "traffic", whole)
	cluster.Finish(t, lt)
	after := cluster.Ask(t, ns)
	if why := v1beta1.NotCarriedOut(lt.Status.Conditions); why != nil {
		t.Fatalf("%s: %s", why.Reason, why.Message)
	}
	cluster.IsPassed(t, lt, machine)
	const filled = 30
	sent := int64(filled)
	for _, step := range lt.Status.Steps {
		r := step.Result
		t.Logf("step %s: due %d, sent %d, expected %d, items %s/s, by %s", step.Name, r.Due, r.Sent, r.Expected, r.ItemsPerSecond, r.Transport)
		sent += r.Sent
		if r.Expected != r.Sent || r.ItemsPerSecond == "" || r.Transport == "" {
			t.Errorf("step %s: %d of %d as expected, items %q, transport %q; %v", step.Name, r.Expected, r.Sent, r.ItemsPerSecond, r.Transport, r.Requests)
		}
	}
	if got := after.Total() - before.Total(); got != sent {
		t.Errorf("the target was asked %d times; %d were sent, with those of the setup", got, sent)
	}
	same.As(t, "step paced: due", 180, lt.Status.Steps[1].Result.Due)
	if due := lt.Status.Steps[0].Result.Due; due < 200 || due > 400 {
		t.Errorf("step ramp: due is %d; its mean is 300 and its deviation 17", due)
	}
}

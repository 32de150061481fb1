//go:build e2e

package abuse

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// tally is what became of one kind of attack.
type tally struct {
	Tried, Ended, Kept, Unreached, Most int64
	Said                                string
}

// hostilePod starts a pod of command hostile. It attacks the coordinator that its environment
// names, if any.
func (tn *tenant) hostilePod(t *testing.T, name string, labels, environment map[string]string) *corev1.Pod {
	t.Helper()
	pod := cluster.Counter{Namespace: tn.namespace, Name: name}.Pod("")
	pod.Labels = labels
	c := &pod.Spec.Containers[0]
	c.Image, c.VolumeMounts, pod.Spec.Volumes = cluster.Image("hostile")+":"+cluster.ImageTag(), nil, nil
	c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("300m"), corev1.ResourceMemory: resource.MustParse("256Mi")}
	c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("32Mi")}
	for name, value := range environment {
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
	}
	must.Succeed(t, tn.editor.Create(t.Context(), pod))
	cluster.Soon(t, func(ctx context.Context) error {
		_, err := tn.tallies(ctx, name)
		return err
	})
	return pod
}

// tallies are those of a hostile pod so far, by the kind of attack.
func (tn *tenant) tallies(ctx context.Context, name string) (map[string]tally, error) {
	raw, err := cluster.Clientset.CoreV1().Pods(tn.namespace).ProxyGet("http", name, "8081", "/attacks", nil).DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what became of the attacks: %w", err)
	}
	var all map[string]tally
	return all, json.Unmarshal(raw, &all)
}

// othersRun is a run of another team, which must end as if nothing else happened.
type othersRun struct {
	tenant  *tenant
	target  cluster.Counter
	machine pressure.Meter
}

// othersSend is how many requests it has.
const othersSend = 100

func newOthersRun(t *testing.T) othersRun {
	t.Helper()
	tn := newTenant(t)
	target, err := cluster.StartCounter(t.Context(), tn.namespace, "")
	must.Succeed(t, err)
	return othersRun{tn, target, pressure.Start()}
}

// begin creates the run.
func (b othersRun) begin(t *testing.T, name string) *v1beta1.LoadTest {
	t.Helper()
	return cluster.Create(t, b.target.Namespace, name, `
target: {service: {name: counter}}
requests: [{name: home, http: {path: "/`+name+`?delay=120ms"}}]
steps: [{name: 4 users x 25, users: 4, requestsPerUser: 25}]
startDeadlineSeconds: 120
worker: {resources: {requests: {cpu: 20m, memory: 32Mi}}}
`)
}

// displaced says whether the run was kept from sending its load in time, and the machine
// says so, too.
func (b othersRun) displaced(lt *v1beta1.LoadTest) bool {
	return cluster.Condition(lt, v1beta1.ConditionThresholdsMet).Reason == v1beta1.ReasonLoadDisplaced && b.machine.Read().Busy()
}

// suffered waits for the end of the run, and says in which way it is not Passed with exact
// counts; empty: it is, or the machine says that it had no time to send its load.
func (b othersRun) suffered(t *testing.T, lt *v1beta1.LoadTest) string {
	t.Helper()
	cluster.Finish(t, lt)
	counts := b.target.MustRead(t)
	if sent, received := cluster.SentBy(lt), counts[lt.Name].Received; lt.Status.Verdict != v1beta1.VerdictPassed && !b.displaced(lt) || sent != othersSend || received != othersSend {
		return fmt.Sprintf("another's run is %s, its target was asked %d times, and its status says %d sent: %s",
			lt.Status.Verdict, received, sent, cluster.Condition(lt, v1beta1.ConditionFinished).Message)
	}
	return ""
}

// operatorHealth is which process leads, and what it holds and has rejected.
type operatorHealth struct {
	pod      string
	restarts int32
	values   map[string]float64
}

func healthOf(t *testing.T, s *cluster.Scraper) (h operatorHealth) {
	t.Helper()
	cluster.Soon(t, func(ctx context.Context) error {
		pod, err := cluster.Leader(ctx)
		if err != nil {
			return err
		}
		h.pod, h.restarts = pod.Name, cluster.Restarts(*pod)
		h.values, err = s.Scrape(ctx, pod)
		return err
	})
	return h
}

// rejected is how often the coordinator has rejected for a reason.
func (h operatorHealth) rejected(reason string) float64 {
	return h.values["loadtest_coordinator_rejected_total{"+reason+"}"]
}

// resident is the metric of the memory that the operator has.
const resident = "process_resident_memory_bytes"

// since says what is wrong with the operator that was well before; empty: nothing. more is
// how much memory it may hold more.
func (h operatorHealth) since(before operatorHealth, more float64) string {
	switch was, is := before.values[resident], h.values[resident]; {
	case h.pod != before.pod, h.restarts != before.restarts:
		return fmt.Sprintf("%s leads, restarted %d times, in place of %s, restarted %d times", h.pod, h.restarts, before.pod, before.restarts)
	case is > was+more:
		return fmt.Sprintf("the operator has %.0f MB in memory, and had %.0f", is/1e6, was/1e6)
	}
	return ""
}

// expose makes a Service of the tenant lead to pods with a label.
func (tn *tenant) expose(t *testing.T, name string, labels map[string]string, spec corev1.ServiceSpec) {
	t.Helper()
	spec.Selector = labels
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: name}, Spec: spec}
	must.Succeed(t, tn.editor.Create(t.Context(), service))
}

// remove deletes a pod at once.
func remove(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	must.Succeed(t, cluster.API.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
}

//go:build e2e

package abuse

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// hostileResponses are what a target responds that wants its client to fail, by the path of
// the request, and what the worker says of it.
var hostileResponses = []struct{ path, name, words string }{
	{"body", "a body without an end", "timeout"},
	{"header", "a header without an end", "badResponse"},
	{"line", "a line of a header without an end", "badResponse"},
	{"interim", "interim responses without end", "badResponse"},
	{"extensions", "chunks of a byte with extensions, without end", "badResponse"},
	{"chunks", "chunks of a size that is none", "badResponse"},
	{"deep", "JSON of 180,000 levels", "JSON"},
	{"slow", "a byte every 100 ms", "timeout"},
}

// hostileAbuses run against such targets, all at once, while another team has a run.
func hostileAbuses() (all []abuse) {
	for _, r := range hostileResponses {
		all = append(all, abuse{"a target that responds with " + r.name, worker, r.words, func(t *testing.T, p *people) attempt {
			h := &p.hostileRun
			h.once.Do(func() { h.carryOut(t) })
			if !h.done {
				t.Fatal("the runs were not carried out")
			}
			if h.harm != "" {
				return succeeded("%s", h.harm)
			}
			return h.attempts[r.path]
		}})
	}
	return all
}

// hostileRuns are those against hostile targets.
type hostileRuns struct {
	once sync.Once
	done bool

	attempts map[string]attempt
	// harm is what another's run or the operator suffered.
	harm string
}

const (
	// hostileUsers send one request each, which looks into the body.
	hostileUsers = 20
	hostileSpec  = `
target: {service: {name: hostile}, timeout: 3s}
requests: [{name: path, http: {path: /PATH}, expect: {json: [{path: .a, equals: x}]}}]
steps: [{name: 20 users x 1, users: 20, requestsPerUser: 1}]
thresholds: [{metric: failureRate, max: 1%}]
startDeadlineSeconds: 120
worker: {resources: {requests: {cpu: 20m, memory: 32Mi}, limits: {memory: 96Mi}}}
`
	// moreBesideTargets is what the operator may hold more after eight small runs.
	moreBesideTargets = 50e6
)

func (h *hostileRuns) carryOut(t *testing.T) {
	t.Helper()
	b, tn := newOthersRun(t), newTenant(t)
	leading := cluster.NewScraper(t, tn.namespace)
	labels := map[string]string{"app": "hostile"}
	tn.expose(t, "hostile", labels, corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}})
	tn.hostilePod(t, "hostile", labels, nil)
	before := healthOf(t, leading)
	runs := map[string]*v1beta1.LoadTest{}
	for _, r := range hostileResponses {
		runs[r.path] = cluster.Create(t, tn.namespace, r.path, strings.ReplaceAll(hostileSpec, "PATH", r.path))
	}
	h.harm = b.suffered(t, b.begin(t, "beside"))
	h.attempts = map[string]attempt{}
	for path, lt := range runs {
		cluster.Finish(t, lt)
		h.attempts[path] = ofHostileRun(t, lt)
	}
	if h.harm == "" {
		h.harm = healthOf(t, leading).since(before, moreBesideTargets)
	}
	h.done = true
}

// ofHostileRun says what became of a run. It succeeded if a worker was killed, or if a
// response passed for a good one.
func ofHostileRun(t *testing.T, lt *v1beta1.LoadTest) attempt {
	t.Helper()
	var pods corev1.PodList
	must.Succeed(t, cluster.API.List(t.Context(), &pods, client.InNamespace(lt.Namespace), client.MatchingLabels{cluster.RunLabel: string(lt.UID)}))
	if len(pods.Items) != 1 {
		return succeeded("%d pods were its worker, want one", len(pods.Items))
	}
	for _, c := range pods.Items[0].Status.ContainerStatuses {
		if end := c.State.Terminated; c.RestartCount > 0 || end != nil && end.ExitCode != 0 {
			return succeeded("its worker ended %d times, %+v", c.RestartCount+1, end)
		}
	}
	r := lt.Status.Steps[0].Result
	if r == nil || r.Sent != hostileUsers || r.Expected > 0 || lt.Status.Verdict == v1beta1.VerdictPassed {
		return succeeded("its verdict is %s, %s: %+v", lt.Status.Verdict, cluster.Condition(lt, v1beta1.ConditionFinished).Message, r)
	}
	var said []string
	for _, sample := range r.Requests[0].ErrorSamples {
		said = append(said, sample.Outcome+": "+sample.Message)
	}
	return refused(worker, fmt.Sprintf("%d of %d failed, %s", r.Sent-r.Expected, r.Sent, strings.Join(said, "; ")))
}

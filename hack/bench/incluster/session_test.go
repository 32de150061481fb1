package incluster

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
	"github.com/loadtest-dev/loadtest-operator/hack/deploy/deploytest"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// cluster answers reads of the API server.
type cluster struct {
	*deploytest.Programs
	s   *session
	out bytes.Buffer

	mu      sync.Mutex
	answers map[string][]any // by path, in turn; the last one again and again
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Programs: deploytest.New(t, "kubectl", "helm"), answers: map[string][]any{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.s = &session{
		Tools: deploy.Tools{Out: &c.out, Err: &c.out}, work: t.TempDir(), lookEvery: time.Millisecond,
		api: &proxy{url: server.URL}, cpu: newProcessor(nil),
	}
	return c
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.answers[r.URL.Path]
	if len(list) == 0 {
		http.NotFound(w, r)
		return
	}
	if len(list) > 1 {
		c.answers[r.URL.Path] = list[1:]
	}
	if text, ok := list[0].(string); ok {
		_, _ = w.Write([]byte(text))
		return
	}
	_ = json.NewEncoder(w).Encode(list[0])
}

func pod(name, label, value string, phase corev1.PodPhase) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{label: value}},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

func pods(list ...corev1.Pod) corev1.PodList { return corev1.PodList{Items: list} }

// A worker is killed; the tool, which replaces it, says nothing of it; the target has the truth.
func TestAWorkerIsKilledAndTheTargetCounts(t *testing.T) {
	c := newCluster(t)
	test := Test{Name: "killed", Target: truth, Rate: 500, Seconds: 10, KillAt: time.Second}
	target := pod(truth, "app", truth, corev1.PodRunning)
	master := pod("locust-master-a", "job-name", "locust-master", corev1.PodRunning)
	worker := func(name string, phase corev1.PodPhase) corev1.Pod {
		return pod(name, "job-name", "locust-worker", phase)
	}
	ended := pod("locust-master-a", "job-name", "locust-master", corev1.PodSucceeded)
	ended.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	c.answers[podPath] = []any{
		pods(target),
		pods(target, master),
		pods(target, master, worker("a", corev1.PodPending), worker("b", corev1.PodRunning)),
		pods(target, ended, worker("a", corev1.PodSucceeded), worker("c", corev1.PodRunning)), // c does not know that it is over
		pods(target, ended, worker("a", corev1.PodSucceeded), worker("c", corev1.PodSucceeded)),
		pods(target),
	}
	now := groundtruth.Now()
	begun := groundtruth.Counters{Requests: 5250, Answered: 5249, First: now - int64(2*time.Second)}
	c.answers[truthPath+"/counters"] = []any{groundtruth.Counters{}, groundtruth.Counters{}, begun}
	c.answers[truthPath+"/records"] = []any{held(5000, 6*time.Millisecond)}
	c.answers[podPath+"/locust-master-a/log"] = []any{read(t, "locust-killed.log")}
	c.s.cpu.keep("a", time.Second)
	c.s.cpu.keep("b", 2*time.Second)
	c.s.cpu.keep("locust-master-a", time.Second/2)
	c.s.cpu.keep(truth, time.Hour)

	got, err := c.s.carryOut(t.Context(), tools[Locust], test)
	must.Succeed(t, err)
	words := got.Said.Words
	if len(words) < 3 || words[0] != "killed: b" || words[1] != "pod locust-master: exit code 0" {
		t.Errorf("it said %q", words)
	}
	got.Said.Words = nil
	same.As(t, "result", Result{
		Tool: Locust, Test: test, Sent: 5250, Served: 5249, True: 6 * time.Millisecond, Workers: 3 * time.Second, Control: time.Second / 2,
		Said: Said{Sent: 4750, P99: []time.Duration{520 * time.Millisecond}},
	}, got)
	if n := strings.Count(c.Calls(), "kubectl delete pod b --namespace bench-peers --grace-period=0 --force"); n != 1 {
		t.Errorf("a worker was killed %d times:\n%s", n, c.Calls())
	}
}

// What a tool does not say is in its result; the tests of others go on.
func TestAToolThatSaysNothingHasAResult(t *testing.T) {
	c := newCluster(t)
	test := Test{Name: "shortener", Target: shortener, Rate: 200, Seconds: 10}
	runner := pod("peers-1-x", "runner", "true", corev1.PodFailed)
	c.answers[podPath] = []any{pods(), pods(runner), pods()}
	c.answers["/api/v1/namespaces/k6-operator-system/pods"] = []any{pods()}
	c.answers["/apis/k6.io/v1alpha1/namespaces/bench-peers/testruns/peers"] = []any{map[string]any{"status": map[string]string{"stage": "error"}}}
	c.answers["/apis/batch/v1/namespaces/bench-peers/jobs"] = []any{map[string]any{"items": []any{}}}
	c.answers[podPath+"/peers-1-x/log"] = []any{"a script that does not compile\n"}
	page := func(created, found, failed string) string {
		return "shortener_requests_total{code=\"2xx\",route=\"create\"} " + created + "\nshortener_requests_total{code=\"3xx\",route=\"redirect\"} " + found +
			"\nshortener_requests_total{code=\"5xx\",route=\"redirect\"} " + failed + "\nshortener_requests_total{code=\"2xx\",route=\"ready\"} 77\n"
	}
	c.answers["/api/v1/namespaces/bench-peers/services/shortener:80/proxy/metrics"] = []any{page("10", "20", "0"), page("11", "1.02e+03", "3")}
	got, err := c.s.carryOut(t.Context(), tools[K6Operator], test)
	must.Succeed(t, err)
	same.As(t, "result", Result{
		Tool: K6Operator, Test: test, Sent: 1004, Served: 1001,
		Said: Said{Words: []string{"TestRun: stage error"}}, Error: "the log has no summary of k6; no control group of its workers was seen, so that their processor time is not known",
	}, got)
	if _, err := fromShortener("shortener_requests_total{code=\"2xx\",route=\"ready\"} 77\n"); err == nil {
		t.Error("metrics without the requests of the load are read")
	}
}

// What is installed is removed, the latest first, also when a later part fails; and an operator that
// was there before stays.
func TestWhatIsInstalledIsRemoved(t *testing.T) {
	for name, before := range map[string]string{"nothing was there": "", "the operator was there": "namespace/loadtest-system"} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			t.Chdir("../../..")
			c.Stub("kubectl get namespace loadtest-system", "echo -n "+before)
			c.Stub("kubectl get crd loadtests.loadtest.dev", "echo -n "+before)
			c.Stub("kubectl proxy", "echo Starting to serve on 127.0.0.1:1")
			c.Stub("helm status", "exit 1")
			c.Stub("kubectl get deployments", `echo "{}"`)
			c.Stub("helm upgrade --install loadtest-operator", "exit 4")
			if _, err := Run(t.Context(), Options{Work: t.TempDir(), Tools: c.s.Tools}); err == nil {
				t.Fatal("an operator that cannot be installed is no error")
			}
			_, after, _ := strings.Cut(c.Calls(), "helm upgrade --install loadtest-operator")
			removed := strings.Count(after, "helm uninstall loadtest-operator") + strings.Count(after, "kubectl delete namespace loadtest-system") +
				strings.Count(after, "kubectl delete --filename charts/loadtest-operator/crds")
			want := 3
			if before != "" {
				want = 0
			}
			if removed != want || !strings.HasSuffix(after, "kubectl delete namespace bench-peers --ignore-not-found\n") {
				t.Errorf("%d parts of the operator are removed; calls:\n%s", removed, after)
			}
		})
	}
}

func TestImageOfABundleIsReplaced(t *testing.T) {
	got, err := withOurImage("image: ghcr.io/grafana/k6-operator:controller-v1.5.0\n", "v1.5.0")
	if must.Succeed(t, err); got != "image: loadtest.dev/k6-operator:dev\n" {
		t.Errorf("bundle is %q", got)
	}
	if _, err := withOurImage("image: ghcr.io/grafana/k6-operator:controller-v1.4.0\n", "v1.5.0"); err == nil {
		t.Error("a bundle of another version is taken")
	}
}

func TestBundleThatCannotBeHadIsAnError(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	if text, _, err := k6Bundle(t.Context(), "../../.."); err == nil || !strings.Contains(err.Error(), "download the module of k6-operator") {
		t.Errorf("bundle %q, error %v", text, err)
	}
}

func TestProxyThatDoesNotServeIsAnError(t *testing.T) {
	c := newCluster(t)
	c.Stub("kubectl proxy", "exit 1")
	_, err := startProxy(t.Context(), t.TempDir())
	must.Say(t, err, "does not serve")
	c.answers["/text"] = []any{"text"}
	if err := c.s.api.get(t.Context(), "/text", &struct{}{}); err == nil {
		t.Error("text is read as JSON")
	}
	_, err = c.s.api.text(t.Context(), "/none")
	must.Say(t, err, "404")
}

func TestTimeThatIsLeft(t *testing.T) {
	if got := left(time.Minute, 0, 15); got != "" {
		t.Errorf("before the first: %q", got)
	}
	if got := left(time.Minute, 3, 15); got != "; about 4m0s left" {
		t.Errorf("after three of fifteen: %q", got)
	}
}

// The race detector looks at the tests of this file, too: what a pass reads and asks beside itself.

package loadtest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question/prometheus"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate/podreader"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate/usagereader"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// serveMetrics has the API server serve the resource metrics API from objects that tests create, in the
// place of metrics-server.
func serveMetrics(t *testing.T) {
	t.Helper()
	object := func(o map[string]any) *unstructured.Unstructured { return &unstructured.Unstructured{Object: o} }
	crd := object(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "pods.metrics.k8s.io", "annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for a test"}},
		"spec": map[string]any{
			"group": "metrics.k8s.io", "scope": "Namespaced", "names": map[string]any{"kind": "PodMetrics", "listKind": "PodMetricsList", "plural": "pods", "singular": "pod"},
			"versions": []any{map[string]any{
				"name": "v1beta1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	})
	must.Succeed(t, client.IgnoreAlreadyExists(apiserver.Client(t).Create(t.Context(), crd)))
	await.True(t, "the API is served", func() bool {
		_, err := clients(t, "").Discovery().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods").DoRaw(t.Context())
		return err == nil
	})
}

// clients are those of a person; "": of an administrator.
func clients(t *testing.T, name string) *kubernetes.Clientset {
	t.Helper()
	config := rest.CopyConfig(apiserver.Config(t))
	config.Impersonate.UserName = name
	c, err := kubernetes.NewForConfig(config)
	must.Succeed(t, err)
	return c
}

// mayReadUsage gives a person the right of config/rbac/optional/usage.yaml in a namespace.
func mayReadUsage(t *testing.T, namespace, name string) {
	t.Helper()
	c, meta := apiserver.Client(t), metav1.ObjectMeta{Namespace: namespace, Name: name}
	must.Succeed(t, c.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"metrics.k8s.io"}, Resources: []string{"pods"}, Verbs: []string{"list"}}}}))
	must.Succeed(t, c.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
	}))
	apiserver.AwaitAccess(t, c, authorizationv1.SubjectAccessReviewSpec{User: name, ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: namespace, Group: "metrics.k8s.io", Resource: "pods", Verb: "list",
	}})
}

// measured is what the resource metrics API has of a pod from then on.
func measured(t *testing.T, lt *v1beta1.LoadTest, pod, app, cpu string, at time.Time) {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "timestamp": at.UTC().Format(time.RFC3339), "window": "1s",
		"containers": []any{map[string]any{"name": "app", "usage": map[string]any{"cpu": cpu, "memory": "65536Ki"}}},
	}}
	o.SetNamespace(lt.Namespace)
	o.SetName(pod)
	o.SetLabels(map[string]string{"app": app})
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), o))
}

// What the pods of the target use stands in the step, and pods of others do not.
func TestResultSaysWhatTheTargetUsed(t *testing.T) {
	t.Parallel()
	serveMetrics(t)
	for name, tc := range map[string]struct {
		allowed bool
		want    v1beta1.StepUsage
	}{
		"allowed": {true, v1beta1.StepUsage{Containers: []v1beta1.ContainerUsage{
			{Name: "app", Readings: 2, CPU: "499m", MostCPU: "499m", CPULimit: "500m", MostMemory: "64Mi", MemoryLimit: "256Mi"},
		}}},
		"not allowed": {false, v1beta1.StepUsage{Problem: "The operator may not read what the pods of the target use (the chart's value environment.usage): pods.metrics.k8s.io is forbidden: User"}},
	} {
		t.Run(name, func(t *testing.T) {
			lt, _ := tested(t)
			r := newFixture(t, apiserver.Client(t))
			r.TargetPods = &podreader.Reader{API: r.Uncached}
			if tc.allowed {
				mayReadUsage(t, lt.Namespace, "reader-"+lt.Namespace)
			}
			r.TargetUsage = &usagereader.Reader{API: r.Uncached, Metrics: clients(t, "reader-"+lt.Namespace).Discovery().RESTClient()}
			r.carryOut(lt, func() {
				at := lt.Status.Steps[0].StartTime.Add(time.Second)
				measured(t, lt, "web-0", "shortener", "498600u", at)
				measured(t, lt, "web-1", "shortener", "100m", at)
				measured(t, lt, "other", "other", "9", at)
			})
			got := lt.Status.Steps[0].Environment.Usage
			if got == nil || !lt.Status.Environment.Usage {
				t.Fatalf("nothing was read: %+v", lt.Status.Environment)
			}
			got.Problem = got.Problem[:min(len(got.Problem), len(tc.want.Problem))]
			if diff := cmp.Diff(&tc.want, got); diff != "" || lt.Status.Verdict != v1beta1.VerdictPassed {
				t.Errorf("verdict %s, usage (-want +got):\n%s", lt.Status.Verdict, diff)
			}
		})
	}
}

// An operator that may not read usage goes on with a run of one that may.
func TestTakeoverByAnOperatorThatDoesNotReadUsage(t *testing.T) {
	t.Parallel()
	serveMetrics(t)
	lt, _ := tested(t)
	r := newFixture(t, apiserver.Client(t))
	r.TargetPods = &podreader.Reader{API: r.Uncached}
	r.TargetUsage = &usagereader.Reader{API: r.Uncached, Metrics: clients(t, "").Discovery().RESTClient()}
	r.carryOut(lt, func() { r.TargetUsage = nil })
	if got := lt.Status.Steps[0].Environment.Usage; got == nil || got.Problem != "The operator is configured not to read what the pods of targets use." {
		t.Errorf("usage %+v", got)
	}
}

// asking is a LoadTest with a threshold on a query, and the administrator's configuration with it.
func asking(t *testing.T, answer string) (*v1beta1.LoadTest, *policy.Policy, *[]string) {
	t.Helper()
	return askingOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
}

// askingOf is asking, of a Prometheus that answers so.
func askingOf(t *testing.T, answer http.HandlerFunc) (*v1beta1.LoadTest, *policy.Policy, *[]string) {
	t.Helper()
	lt, _ := tested(t)
	lt.Spec.Thresholds = append(lt.Spec.Thresholds, v1beta1.Threshold{Metric: v1beta1.MetricQuery, Query: "database connections", Max: ptr.To(intstr.FromInt32(20))})
	must.Succeed(t, apiserver.Client(t).Update(t.Context(), lt))
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.FormValue("query"))
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return lt, limitedTo(noLimits + "\nprometheus:\n  url: " + server.URL + "\n  queries:\n  - {name: database connections, limit: 20, expression: 'max(c{n=\"$namespace\",s=\"$service\"}[$window])'}\n"), &asked
}

// The answer of the administrator's Prometheus decides; without one nothing is decided.
func TestQueryOfAThreshold(t *testing.T) {
	t.Parallel()
	answer := func(value string) string {
		return `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"` + value + `"]}]}}`
	}
	for name, tc := range map[string]struct {
		answer  string
		verdict v1beta1.Verdict
		want    v1beta1.QueryResult
		why     string
	}{
		"kept":     {answer("7"), v1beta1.VerdictPassed, v1beta1.QueryResult{Name: "database connections", Value: "7", Limit: "20"}, ""},
		"breached": {answer("21"), v1beta1.VerdictFailed, v1beta1.QueryResult{Name: "database connections", Value: "21", Limit: "20"}, `Not kept at 10 users, where "database connections" is at 21 of 20.`},
		"no value": {`{"status":"success","data":{"resultType":"vector","result":[]}}`, v1beta1.VerdictInconclusive, v1beta1.QueryResult{Name: "database connections", Problem: "Prometheus: it has no value of the time of the step."}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			lt, inForce, asked := asking(t, tc.answer)
			r := newFixture(t, apiserver.Client(t))
			r.Policy = func() *policy.Policy { return inForce }
			r.Prometheus = &prometheus.Asker{Folder: t.TempDir()}
			r.prepare(lt)
			await.True(t, "the run has ended", func() bool {
				r.after(2 * time.Second)
				r.mustPass(lt)
				return lt.Status.Verdict != ""
			})
			got := lt.Status.Steps[0].Queries
			if lt.Status.Verdict != tc.verdict || len(got) != 1 || got[0] != tc.want || lt.Status.Why != tc.why {
				t.Errorf("verdict %s, %+v, why %q; want %s, %+v, %q", lt.Status.Verdict, got, lt.Status.Why, tc.verdict, tc.want, tc.why)
			}
			want := `max(c{n="` + lt.Namespace + `",s="shortener"}[1000ms])`
			if len(*asked) != 1 || (*asked)[0] != want {
				t.Errorf("asked %q, want once %s", *asked, want)
			}
		})
	}
}

// While Prometheus does not answer, passes do not wait for it, and the step does not end.
func TestSlowPrometheusHoldsUpNoPass(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	lt, inForce, _ := askingOf(t, func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-answer
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"scalar","result":[1,"7"]}}`))
	})
	r := newFixture(t, apiserver.Client(t))
	r.Policy = func() *policy.Policy { return inForce }
	r.Prometheus = &prometheus.Asker{Folder: t.TempDir()}
	r.prepare(lt)
	pass := func() bool {
		r.after(2 * time.Second)
		r.mustPass(lt)
		return lt.Status.Verdict != ""
	}
	await.True(t, "Prometheus is asked", func() bool { pass(); return len(asked) > 0 })
	for range 3 {
		if pass() {
			t.Fatal("the run ended before Prometheus answered")
		}
	}
	if len(asked) != 1 {
		t.Errorf("it was asked %d times more", len(asked)-1)
	}
	close(answer)
	await.True(t, "the run has ended", pass)
	if lt.Status.Verdict != v1beta1.VerdictPassed || lt.Status.Steps[0].Queries[0].Value != "7" {
		t.Errorf("verdict %s, %+v", lt.Status.Verdict, lt.Status.Steps[0].Queries)
	}
}

// A name that the administrator does not have is refused before anything is sent.
func TestQueryThatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	lt, _, _ := asking(t, "")
	r := newFixture(t, apiserver.Client(t))
	r.mustPass(lt)
	accepted := condition(lt, v1beta1.ConditionAccepted)
	if accepted.Status != metav1.ConditionFalse || !strings.HasPrefix(accepted.Message, `spec.thresholds[1].query: there is no query "database connections": the operator's configuration has none`) {
		t.Errorf("%+v", accepted)
	}
}

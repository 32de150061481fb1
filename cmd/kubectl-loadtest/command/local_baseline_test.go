package command_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// withBaseline is a LoadTest of 20 requests with a bound on the difference to a baseline.
func withBaseline(url, baseline string) string {
	return "apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\nmetadata: {name: hello, labels: {app: shop}}\n" +
		"spec: {target: {url: " + url + "}, requests: [{name: home, http: {path: /}}], steps: [{name: burst, users: 5, requestsPerUser: 4}],\n" +
		"  thresholds: [{metric: failureRate, max: 50%}, {metric: p50, maxIncrease: 400%}]" + baseline + "}\n"
}

// slow starts a target whose responses take a time that can be changed.
func slow(t *testing.T, first time.Duration) (url string, takes *atomic.Int64) {
	t.Helper()
	takes = &atomic.Int64{}
	takes.Store(int64(first))
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-time.After(time.Duration(takes.Load()))
	}))
	t.Cleanup(s.Close)
	return s.URL, takes
}

// A pipeline runs the same manifest again and again: its first run has no baseline, says so, and
// saves itself; a later one that is slower fails.
func TestLocalRunAgainstASavedOne(t *testing.T) {
	url, takes := slow(t, 50*time.Millisecond)
	file, saved := write(t, "a.yaml", withBaseline(url, ", baseline: {selector: {app: shop}, optional: true}")), filepath.Join(t.TempDir(), "saved.json")
	// run repeats a run that a busy machine hindered: nothing can be compared with it.
	run := func() (got answer, lt *v1beta1.LoadTest, hindered bool) {
		for range 5 {
			got = alone(t.Context(), t, "run", "--local", "-o", "json", "-f", file, "--baseline", saved)
			if lt = decoded(t, got.out); !fault.IsHindered(&lt.Status) {
				return got, lt, false
			}
		}
		return got, lt, true
	}
	first, lt, hindered := run()
	judged(t, first, lt, v1beta1.VerdictPassed)
	contains(t, "the log", first.err, "--baseline "+saved+": no such file; nothing is compared, as spec.baseline.optional allows")
	if b := lt.Status.Baseline; b == nil || b.Missing != "spec.baseline.selector: no LoadTest with labels app=shop has passed." || b.Name != "" {
		t.Errorf("the baseline is %+v", b)
	}
	if hindered {
		return // judged has excused it, or not
	}
	contains(t, "the verdict", first.out, "Nothing was compared, as spec.baseline.optional allows: spec.baseline.selector: no LoadTest with labels app=shop has passed")

	must.Succeed(t, os.WriteFile(saved, encoded(t, lt), 0o600))
	takes.Store(int64(500 * time.Millisecond))
	second, lt, hindered := run()
	if b := lt.Status.Baseline; b == nil || b.Name != "hello" || b.Missing != "" || len(b.Steps) != 1 || b.Steps[0].Sent != 20 {
		t.Errorf("the baseline is %+v", b)
	}
	if hindered {
		judged(t, second, lt, v1beta1.VerdictInconclusive)
		return
	}
	judged(t, second, lt, v1beta1.VerdictFailed)
	contains(t, "the verdict", second.out, "of LoadTest hello; at most 400% above is allowed")
}

func decoded(t *testing.T, out string) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{}
	if err := json.Unmarshal([]byte(out), lt); err != nil {
		t.Fatalf("%v of %s", err, out)
	}
	return lt
}

func encoded(t *testing.T, lt *v1beta1.LoadTest) []byte {
	t.Helper()
	data, err := json.Marshal(lt)
	must.Succeed(t, err)
	return data
}

// A manifest without spec.baseline gets one: the saved run may have its name.
func TestBaselineOfAManifestWithoutOne(t *testing.T) {
	url, _ := slow(t, 20*time.Millisecond)
	plain := alone(t.Context(), t, "run", "--local", "-o", "json", "-f", write(t, "a.yaml", strings.Replace(withBaseline(url, ""), ", {metric: p50, maxIncrease: 400%}", "", 1)))
	before := decoded(t, plain.out)
	before.Status.Verdict, before.Status.Steps[0].Result.Generator = v1beta1.VerdictPassed, nil // also where a busy machine hindered it
	saved := write(t, "saved.json", string(encoded(t, before)))
	got := decoded(t, alone(t.Context(), t, "run", "--local", "-o", "json", "-f", write(t, "a.yaml", withBaseline(url, "")), "--baseline", saved).out)
	if b := got.Status.Baseline; b == nil || b.Name != "hello" || got.Spec.Baseline.Name != "baseline" || len(got.Status.Thresholds) < 2 || got.Status.Thresholds[1].State == v1beta1.ThresholdPending {
		t.Errorf("compared with %+v, %+v", got.Status.Baseline, got.Status.Thresholds)
	}
}

func TestBaselineThatCannotBeUsed(t *testing.T) {
	saved := &v1beta1.LoadTest{TypeMeta: metav1.TypeMeta{APIVersion: "loadtest.dev/v1beta1", Kind: "LoadTest"}, ObjectMeta: metav1.ObjectMeta{Name: "before"}}
	unfinished := write(t, "unfinished.json", string(encoded(t, saved)))
	named, selected, absent := ", baseline: {name: before}", ", baseline: {selector: {app: shop}}", filepath.Join(t.TempDir(), "none.json")
	for name, tc := range map[string]struct{ manifest, file, want string }{
		"no such file":              {named, absent, "--baseline " + absent + ": no such file; a first run begins without if LoadTest hello has spec.baseline.optional: true"},
		"no such file, no field":    {"", absent, "a first run begins without if LoadTest hello has spec.baseline.optional: true"},
		"no flag":                   {selected, "", "LoadTest hello: spec.baseline is a LoadTest of a cluster, which a run on this machine does not read; give a saved one with --baseline FILE, or set spec.baseline.optional to true"},
		"not finished":              {named, unfinished, "LoadTest hello cannot be compared with LoadTest before, which has not finished"},
		"no LoadTest":               {named, write(t, "b.json", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}`), "--baseline: -f "},
		"not Kubernetes at all":     {named, write(t, "c.json", "not: {a LoadTest"), "--baseline: -f "},
		"another target beside one": {", versus: {name: v3, target: {url: http://127.0.0.1:1}}", unfinished, "versus must not be set with baseline"},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"run", "--local", "-f", write(t, "a.yaml", withBaseline("http://127.0.0.1:1", tc.manifest))}
			if tc.file != "" {
				args = append(args, "--baseline", tc.file)
			}
			got := alone(t.Context(), t, args...)
			if got.code != 4 || !strings.Contains(got.err, tc.want) || got.out != "" {
				t.Errorf("exit code %d, %q; want 4 and …%s…\n%s", got.code, got.err, tc.want, got.out)
			}
		})
	}
	if got := alone(t.Context(), t, "run", "-f", "a.yaml", "--baseline", "b"); got.code != 4 || !strings.Contains(got.err, "--baseline needs --local") {
		t.Errorf("exit code %d, %q", got.code, got.err)
	}
}

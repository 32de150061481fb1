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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// difference is the threshold of withBaseline on a difference.
const difference = ", {name: against, metric: failureRate, maxIncrease: 400%}"

// withBaseline is a LoadTest of 40 requests with a bound on the difference to a baseline.
func withBaseline(url, baseline string) string {
	return "apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\nmetadata: {name: hello, labels: {app: shop}}\n" +
		"spec: {target: {url: " + url + "}, requests: [{name: home, http: {path: /}}], steps: [{name: steady, rate: 40, duration: 1s}],\n" +
		"  thresholds: [{metric: failureRate, max: 100%}, {metric: unsentRate, max: 100%}, {metric: downtime, max: 100%}" + difference + "]" + baseline + "}\n"
}

// breaking starts a target that fails every tenth request, and every one once it is broken: ten times
// as many failures, which do not depend on when requests are sent.
func breaking(t *testing.T) (url string, broken *atomic.Bool) {
	t.Helper()
	broken = &atomic.Bool{}
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() || asked.Add(1)%10 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, broken
}

// A pipeline runs the same manifest again and again: its first run has no baseline, says so, and
// saves itself; a later one that fails more often fails.
func TestLocalRunAgainstASavedOne(t *testing.T) {
	url, broken := breaking(t)
	file, saved := write(t, "a.yaml", withBaseline(url, ", baseline: {selector: {app: shop}, optional: true}")), filepath.Join(t.TempDir(), "saved.json")
	run := func(want v1beta1.Verdict) (got answer, lt *v1beta1.LoadTest) {
		got, lt = runUnhindered(t, "-f", file, "--baseline", saved)
		judged(t, got, lt, want)
		return got, lt
	}
	first, lt := run(v1beta1.VerdictPassed)
	contains(t, "the log", first.err, "--baseline "+saved+": no such file; nothing is compared, as spec.baseline.optional allows")
	if b := lt.Status.Baseline; b == nil || b.Missing != "spec.baseline.selector: no LoadTest with labels app=shop has passed." || b.Name != "" {
		t.Errorf("the baseline is %+v", b)
	}
	if lt.Status.Verdict != v1beta1.VerdictPassed {
		return // judged has excused it, or not
	}
	contains(t, "the verdict", first.out, "Nothing was compared, as spec.baseline.optional allows: spec.baseline.selector: no LoadTest with labels app=shop has passed")

	must.Succeed(t, os.WriteFile(saved, encoded(t, lt), 0o600))
	broken.Store(true)
	second, lt := run(v1beta1.VerdictFailed)
	if b := lt.Status.Baseline; b == nil || b.Name != "hello" || b.Missing != "" || len(b.Steps) != 1 || b.Steps[0].Sent != 40 {
		t.Errorf("the baseline is %+v", b)
	}
	contains(t, "the verdict", second.out, "failureRate is 100% in step steady, 900% above the 10% of LoadTest hello; at most 400% above is allowed")
}

// runUnhindered runs a LoadTest on this machine, and again if the machine says that it is busy and the run was hindered.
func runUnhindered(t *testing.T, args ...string) (got answer, lt *v1beta1.LoadTest) {
	t.Helper()
	for range 5 {
		got = alone(t.Context(), t, append([]string{"run", "--local", "-o", "json"}, args...)...)
		if lt = decoded(t, got.out); !fault.IsHindered(&lt.Status) || !got.machine.Busy() {
			break
		}
	}
	return got, lt
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
	url, _ := breaking(t)
	_, before := runUnhindered(t, "-f", write(t, "a.yaml", strings.Replace(withBaseline(url, ""), difference, "", 1)))
	before.Status.Verdict, before.Status.Steps[0].Result.Generator = v1beta1.VerdictPassed, nil // the run only makes the file: its own verdict is another test's
	saved := write(t, "saved.json", string(encoded(t, before)))
	for _, baseline := range []string{"", ", baseline: {schedule: nightly}"} { // a file is one run, and no level
		_, got := runUnhindered(t, "-f", write(t, "a.yaml", withBaseline(url, baseline)), "--baseline", saved)
		if b := got.Status.Baseline; b == nil || b.Name != "hello" || got.Spec.Baseline.Name != "baseline" || len(got.Status.Thresholds) < 4 || got.Status.Thresholds[3].State == v1beta1.ThresholdPending {
			t.Errorf("compared with %+v, %+v", got.Status.Baseline, got.Status.Thresholds)
		}
	}
}

// Without a cluster there is no schedule: with spec.baseline.optional, the other thresholds decide.
func TestLocalRunAgainstALevel(t *testing.T) {
	url, _ := breaking(t)
	got := decoded(t, alone(t.Context(), t, "run", "--local", "-o", "json", "-f", write(t, "a.yaml", withBaseline(url, ", baseline: {schedule: nightly, optional: true}"))).out)
	if b := got.Status.Baseline; b == nil || !strings.HasPrefix(b.Missing, "spec.baseline.schedule: a level needs 3 LoadTests of schedule nightly that passed") {
		t.Errorf("compared with %+v", b)
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
		"not finished":              {named, unfinished, "LoadTest hello cannot be compared with LoadTest before of --baseline, which has not finished"},
		"an empty file":             {named, write(t, "empty.json", ""), "--baseline: -f "},
		"of another version":        {named, write(t, "v2.json", strings.Replace(string(encoded(t, saved)), "v1beta1", "v2", 1)), "is a LoadTest of loadtest.dev/v2, not a LoadTest of loadtest.dev/v1beta1"},
		"two LoadTests":             {named, write(t, "two.json", string(encoded(t, saved))+"\n---\n"+string(encoded(t, saved))), "holds 2 LoadTests"},
		"no LoadTest":               {named, write(t, "b.json", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}`), "--baseline: -f "},
		"not Kubernetes at all":     {named, write(t, "c.json", "not: {a LoadTest"), "--baseline: -f "},
		"another target beside one": {", otherTargets: [{name: v3, url: http://127.0.0.1:1}], versus: {target: v3}", unfinished, "versus must not be set with baseline"},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"run", "--local", "-f", write(t, "a.yaml", withBaseline("http://127.0.0.1:1", tc.manifest))}
			if tc.file != "" {
				args = append(args, "--baseline", tc.file)
			}
			alone(t.Context(), t, args...).fails(t, tc.want)
		})
	}
	alone(t.Context(), t, "run", "-f", "a.yaml", "--baseline", "b").fails(t, "--baseline needs --local")
}

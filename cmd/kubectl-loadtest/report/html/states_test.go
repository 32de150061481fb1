package html_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var keep = flag.String("keep", "", "folder into which the pages of all states are written, to look at them")

// states are LoadTests in every state that a page must be good for.
func states(t *testing.T) map[string]*v1beta1.LoadTest {
	t.Helper()
	all := reporttest.All(t, "../testdata")
	all["passed"] = reporttest.Ladder(t, 100, 250, 500, 1000)
	all["many"] = reporttest.Ladder(t, many()...)
	all["single"] = reporttest.Ladder(t, 100)
	all["long"] = long(t)
	all["hostile"] = hostile(t)
	all["secure"] = secure(t)
	all["late"] = late(t)
	return all
}

// late is a ladder whose generator was the later the more it had to send.
func late(t *testing.T) *v1beta1.LoadTest {
	lt := reporttest.Ladder(t, 100, 250, 500, 1000)
	for i := range lt.Status.Steps {
		r := lt.Status.Steps[i].Result
		r.WithoutGenerator = r.ResponseTime.DeepCopy()
		for _, q := range []*metav1.Duration{r.WithoutGenerator.P90, r.WithoutGenerator.P95, r.WithoutGenerator.P99, r.WithoutGenerator.P999} {
			q.Duration -= q.Duration * time.Duration(2*i) / 10
		}
	}
	return lt
}

// secure is over TLS; its last step opened no connection.
func secure(t *testing.T) *v1beta1.LoadTest {
	lt := reporttest.Ladder(t, 100, 250)
	ms := func(n time.Duration) *metav1.Duration { return &metav1.Duration{Duration: n * time.Millisecond} }
	for i := range lt.Status.Steps {
		lt.Status.Steps[i].Result.Generator = &v1beta1.GeneratorStatus{Healthy: true}
	}
	lt.Status.Steps[0].Result.Generator = &v1beta1.GeneratorStatus{
		Healthy: true, ConnectionsOpened: 1250, OpenedInWindow: 30, Handshakes: 1250, ResumedHandshakes: 1200, HandshakeP50: ms(2), HandshakeP99: ms(11),
	}
	return lt
}

// many are the users of the longest ladder.
func many() []int32 {
	list := make([]int32, 64)
	for i := range list {
		list[i] = 50 * int32(i+1)
	}
	return list
}

// long has the longest names, and messages as long as they may be.
func long(t *testing.T) *v1beta1.LoadTest {
	lt := reporttest.Knee(t)
	lt.Name, lt.Namespace = strings.Repeat("checkout-", 5)+"nightly", strings.Repeat("n", 63)
	for i := range lt.Status.Steps {
		lt.Status.Steps[i].Name = fmt.Sprintf("%d%s", i, strings.Repeat("w", 62))
	}
	lt.Status.Thresholds[0].Name = strings.Repeat("threshold", 7)
	lt.Status.Thresholds[0].Message = strings.Repeat("It is what it is. ", 28)
	lt.Status.Conditions = append(lt.Status.Conditions, metav1.Condition{Type: v1beta1.ConditionGeneratorHealthy, Status: metav1.ConditionFalse,
		Reason: v1beta1.ReasonScheduleLag, Message: strings.Repeat("x", 1000)})
	return lt
}

// several is the page of a LoadTest with two loads, and their reports.
func several(t *testing.T) []byte {
	t.Helper()
	lt, first, second := reporttest.Ladder(t, 100), reporttest.Ladder(t, 100, 250), reporttest.Ladder(t, 500)
	lt.Name, first.Name, second.Name = "sale", "sale-readers", "sale-writers"
	first.UID, second.UID = "first", "second"
	lt.Status.Steps, lt.Status.Thresholds = nil, nil
	lt.Status.Loads = []v1beta1.LoadStatus{
		{Name: "readers", Test: first.Name, Verdict: v1beta1.VerdictPassed}, {Name: "writers", Test: second.Name, Verdict: v1beta1.VerdictCanceled, Ended: true},
	}
	page, err := html.Report(lt, append(reporttest.Archived(second), reporttest.Archived(first)...), first, second)
	must.Succeed(t, err)
	return page
}

// foreign is what a target or a user would write to run a script in the page.
const foreign = `</title></style></pre></svg><script>window.broken=1</script><img src="//x.invalid/" onerror="window.broken=2">` +
	`" onmouseover="window.broken=3" ' x='{{.Name}} javascript:window.broken=4 ]]> &lt;script&gt;`

// hostile has it wherever a text may stand.
func hostile(t *testing.T) *v1beta1.LoadTest {
	lt := reporttest.Read(t, "../testdata/ladder.yaml")
	lt.Name, lt.Namespace = foreign, foreign
	lt.Spec.Target.URL = foreign
	lt.Spec.Requests[0].HTTP.Path, lt.Spec.Requests[0].HTTP.Body = foreign, foreign
	s := &lt.Status
	s.Verdict = v1beta1.Verdict(foreign)
	for i := range s.Conditions {
		s.Conditions[i].Reason, s.Conditions[i].Message = foreign, foreign
	}
	for i := range s.Thresholds {
		th := &s.Thresholds[i]
		th.Name, th.Step, th.Observed, th.Limit, th.Message, th.State = foreign, foreign, foreign, foreign, foreign, foreign
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		step.Name, step.Message, step.State = foreign, foreign, foreign
		if step.Result == nil {
			continue
		}
		step.Result.Goodput, step.Result.Transport, step.Result.Histogram = foreign, foreign, foreign
		step.Result.Generator.CPUThrottled, step.Result.Generator.Reason = foreign, foreign
		for j := range step.Result.Types {
			step.Result.Types[j].Name = foreign
		}
		for j := range step.Result.Requests {
			step.Result.Requests[j] = v1beta1.RequestResult{Name: foreign, ErrorSamples: []v1beta1.ErrorSample{{Outcome: foreign, Message: foreign}}}
		}
		step.Result.Traces = &v1beta1.TraceResult{Slowest: []v1beta1.TracedRequest{{TraceID: foreign, Request: foreign, Outcome: foreign}}}
	}
	return lt
}

// write writes the page of a LoadTest, with plots over time, and returns its path.
func write(t *testing.T, folder, name string, lt *v1beta1.LoadTest) string {
	t.Helper()
	data, err := html.Report(lt, reporttest.Archived(lt))
	must.Succeed(t, err)
	path := filepath.Join(folder, name+".html")
	must.Succeed(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestReportOfEveryState(t *testing.T) {
	folder := *keep
	if folder == "" {
		folder = t.TempDir()
	}
	for name, lt := range states(t) {
		before := lt.DeepCopy()
		path := write(t, folder, name, lt)
		first := must.ReadFile(t, path)
		if again, _ := html.Report(before, reporttest.Archived(before)); string(again) != string(first) {
			t.Errorf("%s: two pages of one LoadTest differ", name)
		}
		for _, bad := range []string{"%!", "NaN", "Inf", "ZgotmplZ", "&lt;nil&gt;", "http-equiv=\"refresh\"", "<script>window", "xpected responses per second"} {
			if strings.Contains(string(first), bad) {
				t.Errorf("%s: the page contains %q", name, bad)
			}
		}
		if n := strings.Count(string(first), "<script"); n != 1 {
			t.Errorf("%s: %d scripts, want the page's own", name, n)
		}
	}
}

// themes are the colours of the style sheet: light, dark, print.
func themes(t *testing.T) []map[string]string {
	t.Helper()
	source := must.ReadFile(t, "page.css")
	var list []map[string]string
	for _, root := range regexp.MustCompile(`:root \{[^}]*\}`).FindAllString(string(source), -1) {
		theme := map[string]string{}
		for _, m := range regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`).FindAllStringSubmatch(root, -1) {
			theme[m[1]] = m[2]
		}
		list = append(list, theme)
	}
	if len(list) != 3 {
		t.Fatalf("%d themes, want light, dark and print", len(list))
	}
	return list
}

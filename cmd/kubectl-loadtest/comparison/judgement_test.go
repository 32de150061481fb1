package comparison_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/comparison"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
)

func TestComparisonFails(t *testing.T) {
	edited := func(lt *v1beta1.LoadTest, edit func(*v1beta1.LoadTest)) *v1beta1.LoadTest {
		edit(lt)
		return lt
	}
	before := func() *v1beta1.LoadTest { return thrice("v3", 40, 100) }
	for name, tc := range map[string]struct {
		tests              []*v1beta1.LoadTest
		regression, change v1beta1.Verdict
		message            string
	}{
		"nothing changed": {[]*v1beta1.LoadTest{before(), thrice("v4", 40, 100)}, "Passed", "Passed",
			"Of 12 figures that were compared with v3, none is worse beyond chance."},
		"it is slower": {[]*v1beta1.LoadTest{before(), thrice("v4", 40, 150)}, "Failed", "Failed",
			"p50 in step 1000 is 150ms instead of 100ms, +50.0% (+48.8% to +51.3%) worse; p95 in step 1000 is 300ms instead of 200ms, +50.0% (+48.8% to +51.3%) worse; p99 in step 1000 is 450ms instead of 300ms, +50.0% (+48.8% to +51.3%) worse."},
		"it is faster": {[]*v1beta1.LoadTest{before(), thrice("v4", 40, 50)}, "Passed", "Failed",
			"Of 12 figures that were compared with v3, none is worse beyond chance."},
		"two tests, the second is slower": {[]*v1beta1.LoadTest{before(), before(), thrice("v4", 40, 150)}, "Failed", "Failed",
			"p50 of v4 in step 1000 is 150ms instead of 100ms, +50.0% (+48.8% to +51.3%) worse; p95 of v4 in step 1000 is 300ms instead of 200ms, +50.0% (+48.8% to +51.3%) worse; p99 of v4 in step 1000 is 450ms instead of 300ms, +50.0% (+48.8% to +51.3%) worse."},
		"its verdict is open": {[]*v1beta1.LoadTest{before(), edited(thrice("v4", 40, 150), func(lt *v1beta1.LoadTest) { lt.Status.Verdict = v1beta1.VerdictInconclusive })}, "Inconclusive", "Inconclusive",
			"The verdict of v4 is Inconclusive: its figures may not describe its target."},
		"other requests": {[]*v1beta1.LoadTest{before(), edited(thrice("v4", 40, 150), func(lt *v1beta1.LoadTest) { lt.Spec.Requests[0].Name = "look" })}, "Inconclusive", "Inconclusive",
			"The traffic of v4 is not that of v3: request 1 is look here, buy there."},
		"another method": {[]*v1beta1.LoadTest{before(), edited(thrice("v4", 40, 150), func(lt *v1beta1.LoadTest) { lt.Spec.Requests[0].HTTP.Method = "HEAD" })}, "Inconclusive", "Inconclusive",
			"The traffic of v4 is not that of v3: http.method of request buy."},
		"another timeout": {[]*v1beta1.LoadTest{before(), edited(thrice("v4", 40, 150), func(lt *v1beta1.LoadTest) { lt.Spec.Target.Timeout = &metav1.Duration{Duration: time.Second} })}, "Inconclusive", "Inconclusive",
			"The traffic of v4 is not that of v3: spec.target.timeout: 1s here, 30s there."},
		"more workers": {[]*v1beta1.LoadTest{before(), edited(thrice("v4", 40, 150), func(lt *v1beta1.LoadTest) { lt.Status.Workers.Desired = 2 })}, "Inconclusive", "Inconclusive",
			"The traffic of v4 is not that of v3: the number of workers: 2 here, 1 there."},
		"a step did not run": {[]*v1beta1.LoadTest{before(), edited(thrice("v4", 40, 100), func(lt *v1beta1.LoadTest) { lt.Status.Steps = lt.Status.Steps[:1] })}, "Inconclusive", "Inconclusive",
			"Step 1000 of v4 was not compared: its figures in either are too few, or not of the planned load."},
		"a step did not run, another is slower": {[]*v1beta1.LoadTest{finished("v3", step("100", 1, 0, 100, 1), step("1000", 2, 0, 1000, 10)), finished("v4", step("100", 1, 0, 100, 900))}, "Inconclusive", "Inconclusive",
			"Step 1000 of v4 was not compared: its figures in either are too few, or not of the planned load."},
		"another step beside": {[]*v1beta1.LoadTest{finished("v3", step("100", 1, 0, 100, 40)), finished("v4", step("100", 1, 0, 100, 40), step("200", 2, 0, 200, 40))}, "Passed", "Passed",
			"Of 3 figures that were compared with v3, none is worse beyond chance."},
		"no steps": {[]*v1beta1.LoadTest{finished("v3"), finished("v4")}, "Inconclusive", "Inconclusive", "No step was compared: none was measured."},
	} {
		t.Run(name, func(t *testing.T) {
			c := comparing(t, tc.tests...)
			got, change := c.Judge(comparison.FailOnRegression), c.Judge(comparison.FailOnChange)
			if got.Verdict != tc.regression || got.Message != tc.message || change.Verdict != tc.change {
				t.Errorf("regression: %s: %s\nwant %s: %s\nchange: %s, want %s: %s", got.Verdict, got.Message, tc.regression, tc.message, change.Verdict, tc.change, change.Message)
			}
			if never := c.Judge(comparison.FailOnNever); never.Verdict != v1beta1.VerdictPassed {
				t.Errorf("it fails on nothing, and is %s", never.Verdict)
			}
		})
	}
}

func TestComments(t *testing.T) {
	for name, tests := range map[string][]*v1beta1.LoadTest{
		"regression": {thrice("checkout", 40, 100), thrice("checkout", 40, 150)},
		"one-step":   {finished("v3", step("100", 1, 0, 100, 40)), finished("v4", step("100", 1, 0, 100, 41))},
	} {
		t.Run(name, func(t *testing.T) {
			c := comparing(t, tests...)
			golden.Check(t, filepath.Join("testdata", name+".comment.md"), c.Comment())
		})
	}
}

// What stands in a saved file neither becomes markup nor mentions anyone, nor ends the plot.
func TestHostileNamesInPages(t *testing.T) {
	hostile := "<img src=x onerror=alert(1)> </details> <!-- @everyone #1 [a](http://evil) $\\color{red}{1}$ | `x` \u202e \"] ```\n## Passed\n"
	evil := thrice(hostile, 40, 150)
	for i := range evil.Status.Steps {
		evil.Status.Steps[i].Name = fmt.Sprintf("%s%d", hostile, evil.Status.Steps[i].Rung)
	}
	other := thrice("v3", 40, 100)
	for i := range other.Status.Steps {
		other.Status.Steps[i].Name = evil.Status.Steps[i].Name
	}
	c := comparing(t, other, evil)
	for form, page := range map[string]string{"comment": c.Comment(), "markdown": c.Markdown()} {
		for _, bad := range []string{"<img", "</details", "<!--", "@everyone", " #1", "[a](", " $", " | `x`", "\u202e", "\n## Passed"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s contains %q:\n%s", form, bad, page)
			}
		}
		if fences := strings.Count(page, "\n```"); form == "comment" && fences != 2 {
			t.Errorf("the plot has %d fences:\n%s", fences, page)
		}
	}
}

// A comment fits into what GitHub takes, whatever the files hold: long names, many steps, many tests.
func TestCommentIsBounded(t *testing.T) {
	for _, tc := range []struct {
		tests, steps int
		plot         string
	}{
		{2, 128, "\nThe plot has the first 32 of 128 steps.\n"},
		{60, 4, "\nThe plot of p95 is left out: with so long names, it has no room in a comment.\n"},
	} {
		var tests []*v1beta1.LoadTest
		for n := range tc.tests {
			lt := finished(fmt.Sprintf("v%d", n) + strings.Repeat("n", 100_000))
			for i := range tc.steps {
				lt.Status.Steps = append(lt.Status.Steps, step(fmt.Sprintf("%d%s", i, strings.Repeat("é", 4000)), int32(i+1), 0, int32(i+1), 40))
			}
			lt.Status.TargetURL = fmt.Sprintf("http://v%d", n)
			tests = append(tests, lt)
		}
		c := comparing(t, tests...)
		if comment := c.Comment(); len(comment) > 65_536 || !strings.Contains(comment, "rows are left out") || !strings.Contains(comment, tc.plot) || !strings.HasPrefix(comment, "## ") {
			t.Errorf("a comment on %d tests of %d bytes begins with %.200s", tc.tests, len(comment), comment)
		}
	}
}

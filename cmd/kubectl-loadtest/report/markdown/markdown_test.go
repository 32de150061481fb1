package markdown_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/markdown"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
)

// TestReport compares the reports with those that a person reviewed.
func TestReport(t *testing.T) {
	all := reporttest.All(t, "../testdata")
	for _, name := range []string{"burst", "environment", "ladder", "stood-still", "silent", "growing", "loads", "streams"} {
		t.Run(name, func(t *testing.T) {
			lt := all[name]
			golden.Check(t, "testdata/"+name+".md", markdown.Report(lt))
		})
	}
}

// Every table is whole: each row has as many cells as its head.
func TestTablesAreWhole(t *testing.T) {
	for name, lt := range reporttest.All(t, "../testdata") {
		cells := 0
		for line := range strings.Lines(markdown.Report(lt)) {
			if !strings.HasPrefix(line, "|") {
				cells = 0
				continue
			}
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if cells != 0 && n != cells {
				t.Errorf("%s: a row has %d bars, its head %d: %s", name, n, cells, line)
			}
			cells = n
		}
	}
}

// What a target or a user wrote breaks no table, and becomes neither a tag, a named
// link nor a mention.
func TestForeignTextIsNoMarkup(t *testing.T) {
	const hostile = "a|b\n| c | <img src=x onerror=alert(1)> [x](http://evil) `code` @everyone #1 ![i](u)"
	lt := reporttest.Knee(t)
	lt.Status.Steps[0].Name = hostile
	lt.Status.Thresholds[0].Message = hostile
	lt.Status.Conditions = append(lt.Status.Conditions, metav1.Condition{Type: v1beta1.ConditionAccepted, Status: metav1.ConditionFalse, Reason: "Bad", Message: hostile})
	text := markdown.Report(lt)
	for _, bad := range []string{"<img", "[x]", "\n| c", "`code`", "@everyone", "#1", "![i]"} {
		if strings.Contains(text, bad) {
			t.Errorf("the report contains %q:\n%s", bad, text)
		}
	}
	if !strings.Contains(text, `a\|b`) {
		t.Errorf("the text itself is missing:\n%s", text)
	}
}

// A report of many steps fits into a comment, says what it lacks, and has whole tables.
func TestLongReportFitsIntoAComment(t *testing.T) {
	lt := reporttest.Knee(t)
	first := lt.Status.Steps[0]
	first.Result.Outcomes = v1beta1.Outcomes{ServerError: 1, Timeout: 2, Reset: 3}
	for range 600 {
		lt.Status.Steps = append(lt.Status.Steps, first)
	}
	for _, text := range []string{markdown.Report(lt), markdown.Report(reporttest.Knee(t), lt), markdown.Report(lt, lt, lt)} {
		if n := len(text); n > 65_536 || n < 55_000 {
			t.Errorf("%d bytes", n)
		}
		if !strings.Contains(text[len(text)-200:], " rows are left out, because a comment has at most 65536 characters") {
			t.Errorf("it ends with %q", text[len(text)-200:])
		}
	}
	if short := markdown.Report(reporttest.Knee(t)); strings.Contains(short, "left out") {
		t.Error("something is left out of a short one")
	}
}

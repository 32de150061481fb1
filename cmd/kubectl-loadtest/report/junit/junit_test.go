package junit_test

import (
	"strings"
	"testing"

	reader "github.com/joshdk/go-junit"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/junit"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// read is what a program of others finds in a report.
func read(t *testing.T, lt *v1beta1.LoadTest) reader.Suite {
	t.Helper()
	data, err := junit.Report(lt)
	must.Succeed(t, err)
	suites, err := reader.Ingest(data)
	if err != nil || len(suites) != 1 {
		t.Fatalf("%d suites (%v), want one:\n%s", len(suites), err, data)
	}
	return suites[0]
}

func TestReport(t *testing.T) {
	for _, name := range []string{"burst", "ladder", "loads"} {
		t.Run(name, func(t *testing.T) {
			lt := reporttest.Read(t, "../testdata/"+name+".yaml")
			data, err := junit.Report(lt)
			must.Succeed(t, err)
			golden.Check(t, "testdata/"+name+".xml", string(data))
		})
	}
}

// CI is green if and only if the verdict is Passed.
func TestAllCasesPassOnlyIfTheVerdictIsPassed(t *testing.T) {
	verdicts := []v1beta1.Verdict{"", v1beta1.VerdictPassed, v1beta1.VerdictFailed, v1beta1.VerdictInconclusive, v1beta1.VerdictCanceled, v1beta1.VerdictError}
	for name, lt := range reporttest.All(t, "../testdata") {
		for _, verdict := range verdicts {
			lt.Status.Verdict = verdict
			suite := read(t, lt)
			green := suite.Totals.Failed+suite.Totals.Error == 0
			if green != (verdict == v1beta1.VerdictPassed) {
				t.Errorf("%s with verdict %q: %d cases failed and %d are errors", name, verdict, suite.Totals.Failed, suite.Totals.Error)
			}
		}
	}
}

// A suite of a load is as green as the run, whatever ended the load; and green if the run ended it, as
// planned or because of another load.
func TestSuitesOfLoadsFailOnlyWithTheRun(t *testing.T) {
	lt, one := reporttest.Read(t, "../testdata/loads.yaml"), reporttest.Read(t, "../testdata/burst.yaml")
	one.Name, one.Status.Verdict = lt.Status.Loads[0].Test, v1beta1.VerdictCanceled
	for _, of := range []struct {
		verdict v1beta1.Verdict
		ended   bool
		green   bool
	}{{v1beta1.VerdictPassed, false, true}, {v1beta1.VerdictFailed, false, false}, {v1beta1.VerdictFailed, true, true}} {
		lt.Status.Verdict, lt.Status.Loads[0].Verdict, lt.Status.Loads[0].Ended = of.verdict, one.Status.Verdict, of.ended
		data, err := junit.Report(lt, one)
		must.Succeed(t, err)
		suites, err := reader.Ingest(data)
		if err != nil || len(suites) != 2 {
			t.Fatalf("%d suites (%v), want two:\n%s", len(suites), err, data)
		}
		if bad := suites[1].Totals.Failed + suites[1].Totals.Error; suites[1].Totals.Tests == 0 || (bad == 0) != of.green {
			t.Errorf("of a run that %s, %d of %d cases of the load are bad; ended by the run: %t", of.verdict, bad, suites[1].Totals.Tests, of.ended)
		}
	}
}

// There is a case for the verdict, each step that sends, each threshold and each
// audit, and the sentence of what was breached is in it.
func TestCases(t *testing.T) {
	lt := reporttest.Read(t, "../testdata/burst.yaml")
	suite := read(t, lt)
	got := map[string]reader.Test{}
	for _, c := range suite.Tests {
		got[c.Name] = c
	}
	for name, status := range map[string]reader.Status{
		"verdict":                       reader.StatusFailed,
		"step burst is complete":        reader.StatusPassed,
		"threshold overLimitGrants":     reader.StatusFailed,
		"threshold falseDenials":        reader.StatusPassed,
		"audit rateLimit in step burst": reader.StatusFailed,
	} {
		if got[name].Status != status {
			t.Errorf("case %q is %q, want %q", name, got[name].Status, status)
		}
	}
	if len(suite.Tests) != 5 {
		t.Errorf("%d cases, want 5", len(suite.Tests))
	}
	if message := got["threshold overLimitGrants"].Error; message == nil || !strings.Contains(message.Error(), "overLimitGrants is 104 in step burst; at most 0 is allowed.") {
		t.Errorf("the failure says %v, want the sentence of the threshold", message)
	}
}

// What the generator did stands in the case of the verdict; those of thresholds do not repeat it.
func TestStateOfTheGeneratorIsSaidInOneCase(t *testing.T) {
	lt, cases := reporttest.Faults(t)["stood-still"], 0
	for _, c := range read(t, lt).Tests {
		if c.Error != nil && strings.Contains(c.Error.Error(), lt.Status.Steps[0].Result.Generator.Message) {
			cases++
		}
	}
	if cases != 1 {
		t.Errorf("it is said in %d cases, want 1", cases)
	}
}

// An audit of what the target stored is a case, with its sentence.
func TestStoredAuditsAreCases(t *testing.T) {
	statuses := map[string]reader.Status{}
	for _, c := range read(t, reporttest.Read(t, "../testdata/audits.yaml")).Tests {
		statuses[c.Name] = c.Status
	}
	if statuses["audit every-link-is-there"] != reader.StatusFailed || statuses["audit every-click-is-counted"] != reader.StatusPassed {
		t.Errorf("the cases are %v, want the first audit failed and the second passed", statuses)
	}
}

// What a target or a user wrote stays text, and the file stays XML.
func TestForeignTextIsNoMarkup(t *testing.T) {
	const hostile = "]]></failure><testcase name=\"forged\"/>\x00\x1b[31m & \ufffe"
	lt := reporttest.Knee(t)
	before := len(read(t, lt).Tests)
	lt.Name = hostile
	lt.Status.Steps[0].Name = hostile
	lt.Status.Thresholds[0].Message = hostile
	if suite := read(t, lt); len(suite.Tests) != before {
		t.Errorf("%d cases, want %d", len(suite.Tests), before)
	}
}

package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/recordtest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A record is read as it was written.
func TestRecordsAreReadAsWritten(t *testing.T) {
	store := record.Store(filepath.Join(t.TempDir(), "seeds"))
	want := recordtest.All()["003-1gb"]
	want.Results = [][]byte{[]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")}
	if r, err := store.Read("003-1gb"); r != nil || err != nil {
		t.Errorf("Read() before Write() = %v, %v", r, err)
	}
	must.Succeed(t, store.Write(want))
	got, err := store.Read("003-1gb")
	must.Succeed(t, err)
	// A time is read in the local zone.
	got.Date.Time = got.Date.UTC()
	same.As(t, "the record", want, got)
	all, err := store.All()
	if err != nil || len(all) != 1 || all["003-1gb"] == nil {
		t.Errorf("All() = %v, %v", all, err)
	}
}

// A file that was not written as a whole is never read as a result, and one of another
// experiment is no result of this.
func TestBrokenRecordsAreNoResults(t *testing.T) {
	store := record.Store(t.TempDir())
	must.Succeed(t, store.Write(recordtest.All()["000-v1"]))
	text := must.ReadFile(t, filepath.Join(string(store), "000-v1.yaml"))
	for name, content := range map[string]string{
		"is the result of 000-v1":             string(text),
		"there is no document of kind":        "kind: LoadTest\nmetadata: {name: a}\n",
		"unknown field":                       strings.Replace(string(text), "kind: LoadTest", "kind: LoadTest\nresult: forged", 1),
		"did not find expected ',' or '}'":    "kind: {a: b",
		"error converting YAML to JSON: yaml": "\t",
	} {
		must.Succeed(t, os.WriteFile(filepath.Join(string(store), "000-v2.yaml"), []byte(content), 0o644))
		if r, err := store.Read("000-v2"); err == nil || r != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Read() = %v, %v, want an error that says %q", r, err, name)
		}
	}
}

// The hash changes with whatever is run, and with where one part ends and another begins.
func TestHashChangesWithWhateverRuns(t *testing.T) {
	seen := map[string]string{}
	smaller := manifest.TwoCores
	smaller.Load++
	for name, hash := range map[string]string{
		"two parts":      record.Hash(manifest.TwoCores, []byte("a"), []byte("b")),
		"another part":   record.Hash(manifest.TwoCores, []byte("a"), []byte("c")),
		"one part":       record.Hash(manifest.TwoCores, []byte("a"), []byte("")),
		"joined parts":   record.Hash(manifest.TwoCores, []byte("ab")),
		"another factor": record.Hash(smaller, []byte("a"), []byte("b")),
	} {
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[hash] = name
	}
	if a, b := record.Hash(manifest.TwoCores, []byte("a")), record.Hash(manifest.TwoCores, []byte("a")); a != b {
		t.Error("the hash of the same differs")
	}
}

func TestRunsThatDidNotEndAreNamed(t *testing.T) {
	r := recordtest.All()["004-hash"]
	must.Report(t, "Ended() of runs that went to their end", r.Ended())
	r.LoadTests[1].Status.Phase, r.LoadTests[1].Status.Verdict = v1beta1.PhaseFinished, v1beta1.VerdictError
	if err := r.Ended(); err == nil || err.Error() != `five-clients did not go to its end: it is Finished with the verdict "Error"` {
		t.Errorf("Ended() = %v", err)
	}
}

func TestRecordsNeedEveryTestAndItsSteps(t *testing.T) {
	r := recordtest.All()["003-1gb"]
	must.Report(t, "Complete()", r.Complete([]string{"events-append"}))
	if err := r.Complete([]string{"events-none"}); err == nil || err.Error() != "events-none did not run" {
		t.Errorf("Complete() of one that did not run = %v", err)
	}
	lt := r.LoadTest("events-append")
	steps := lt.Status.Steps
	lt.Status.Steps = steps[:len(steps)-1]
	if err := r.Complete([]string{"events-append"}); err == nil || err.Error() != "events-append has 4 of 5 repetitions of step 2 users" {
		t.Errorf("Complete() of one that was cut short = %v", err)
	}
	lt.Status.Steps = nil
	if err := r.Complete([]string{"events-append"}); err == nil || err.Error() != "events-append has no steps" {
		t.Errorf("Complete() without steps = %v", err)
	}
}

// A rung is the step with its repetitions, and pauses are none.
func TestRungsHoldTheirRepetitions(t *testing.T) {
	lt := recordtest.All()["003-1gb"].LoadTest("events-append")
	rungs := record.Rungs(lt)
	if len(rungs) != 2 || len(rungs[0].Repetitions) != 5 || rungs[1].Name != "2 users" || rungs[1].Load.Users != 2 {
		t.Fatalf("the rungs are %+v", rungs)
	}
	rungs[0].Repetitions[3].Result.Generator = &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonNodeBusy}
	rungs[0].Repetitions[4].Result.Generator = nil
	if got := len(rungs[0].Healthy().Repetitions); got != 3 {
		t.Errorf("%d repetitions were healthy, want 3", got)
	}
	for i, want := range []string{"", "", "", "NodeBusy", "NotReported"} {
		if got := record.LimitedBy(rungs[0].Repetitions[i]); got != want {
			t.Errorf("repetition %d was limited by %q, want %q", i+1, got, want)
		}
	}
}

// A figure is the median with the least and the greatest, and is not known where one of
// the repetitions does not have it.
func TestFiguresOfRungsAreMedians(t *testing.T) {
	rung := record.Rungs(recordtest.All()["000-v1"].LoadTest("tiny-bitly-reads"))[1]
	p95 := record.Figures["p95"]
	same.As(t, "p95", "20ms (19ms–21ms)", rung.Text(p95))
	same.As(t, "the failed share", "0%", rung.Text(record.Figures["failedShare"]))
	rung.Repetitions[2].Result.ResponseTime.P95 = nil
	if got := rung.Text(p95); got != record.Unknown {
		t.Errorf("p95 of too few samples is %s", got)
	}
}

// The whole of a load test has the counts of all steps of each repetition.
func TestWholeAddsUpTheSteps(t *testing.T) {
	lt := recordtest.All()["004-hash"].LoadTest("burst-then-steady")
	whole := record.Whole(lt)
	for name, want := range map[string]string{"sent": "135", "granted": "135", "overLimit": "70", "p50": "5ms (4.9ms–5.2ms)"} {
		same.As(t, name, want, whole.Text(record.Figures[name]))
	}
	if got := record.Whole(lt).Limits(); got != "healthy" {
		t.Errorf("the generator of the whole is %s", got)
	}
	record.Rungs(lt)[0].Repetitions[2].Result.Generator = nil
	record.Rungs(lt)[1].Repetitions[3].Result.Generator = &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonNodeBusy}
	if got := record.Whole(lt).Limits(); got != "NodeBusy in 1 of 5, NotReported in 1 of 5" {
		t.Errorf("the generator of the whole is %s", got)
	}
	record.Rungs(lt)[1].Repetitions[0].Result.Histogram = ""
	if got := record.Whole(lt).Text(record.Figures["p50"]); got != record.Unknown {
		t.Errorf("p50 without a histogram of a step is %s", got)
	}
	if n := len(record.Whole(&v1beta1.LoadTest{}).Repetitions); n != 0 {
		t.Errorf("a load test without steps has %d repetitions", n)
	}
}

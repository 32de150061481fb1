package document_test

import (
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/document"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/recordtest"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// TestDocumentsAreAsReviewed compares what is written of results that are as expected with what a
// person reviewed.
func TestDocumentsAreAsReviewed(t *testing.T) {
	for _, seed := range experiment.Seeds() {
		files, _, err := document.Of(seed, recordtest.All())
		must.Succeed(t, err)
		if len(files) < 2 {
			t.Errorf("seed %s has no plots", seed)
		}
		for name, text := range files {
			golden.Check(t, filepath.Join("testdata", name), string(text))
			if filepath.Ext(name) == ".svg" {
				wellFormed(t, name, string(text))
			} else {
				readable(t, name, string(text))
			}
		}
	}
}

// readable says that no cell is empty, and that no sentence stands there three times.
func readable(t *testing.T, name, text string) {
	t.Helper()
	if strings.Contains(text, "|  |") {
		t.Errorf("%s has an empty cell", name)
	}
	times := map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		for _, cell := range strings.Split(line, " | ") {
			for _, sentence := range strings.SplitAfter(cell, ". ") {
				sentence = strings.Trim(sentence, " |*-")
				if len(sentence) > 40 && strings.Contains(sentence, " ") && strings.HasSuffix(sentence, ".") {
					times[sentence]++
				}
			}
		}
	}
	for sentence, n := range times {
		if n > 2 {
			t.Errorf("%s says %d times: %s", name, n, sentence)
		}
	}
}

func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	curves := 0
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s is no XML: %v", name, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "path" {
			curves++
		}
	}
	if curves == 0 {
		t.Errorf("%s has no lines", name)
	}
}

// A figure of a document is that of a result: another result makes another document.
func TestDocumentsFollowTheResults(t *testing.T) {
	all := recordtest.All()
	record.Rungs(all["004-hash"].LoadTest("single-client-burst"))[0].Repetitions[0].Result.RateLimit.OverLimitGrants = 149
	files, _, err := document.Of("004", all)
	if err != nil || !strings.Contains(string(files["seed-004.md"]), "in a burst 200 granted, 150 (149–150) beyond the contract") {
		t.Errorf("the document does not follow (%v):\n%s", err, files["seed-004.md"])
	}
}

func TestNoDocumentOfAPart(t *testing.T) {
	all := recordtest.All()
	delete(all, "001-clicks")
	if _, _, err := document.Of("001", all); !errors.Is(err, document.ErrNoResult) || !strings.Contains(err.Error(), "001-clicks") {
		t.Errorf("Of(001) = %v, want that 001-clicks has no result", err)
	}
	if _, _, err := document.Of("000", all); err != nil {
		t.Errorf("Of(000) = %v", err)
	}
	all["000-v1"].LoadTests[0].Status.Steps[0].Result = nil
	if _, _, err := document.Of("000", all); !errors.Is(err, document.ErrNoResult) {
		t.Errorf("Of(000) = %v, want that a step has no result", err)
	}
}

// Quantiles of too few samples have that reason, and so have winners and changes by them.
func TestTooFewSamplesAreAReason(t *testing.T) {
	all := recordtest.All()
	record.Rungs(all["002-v02"].LoadTest("flask-users"))[0].Repetitions[4].Result.ResponseTime.P99 = nil
	files, counts, err := document.Of("002", all)
	must.Succeed(t, err)
	for _, want := range []string{
		"| **here, 1 user** | P99 | 18ms (17ms–19ms) | [1] | [1] |", "| **here, 1 user** | P99 | 18ms (17ms–19ms) | [1] | 6ms (5.8ms–6.2ms) | [1] |",
		"- [1] There are too few samples for it in a repetition, or none at all.",
	} {
		if !strings.Contains(string(files["seed-002.md"]), want) {
			t.Errorf("the document does not have %q", want)
		}
	}
	if counts.Missing != 0 {
		t.Errorf("the counts are %s", counts)
	}
}

// A wrong result makes no document, and one in which the machine was the limit decides
// nothing there: no winner, no change, and a mark beside each of its figures.
func TestDocumentsSayWhereTheMachineWasTheLimit(t *testing.T) {
	all := recordtest.All()
	for _, rung := range record.Rungs(all["002-v02"].LoadTest("flask-users")) {
		for _, step := range rung.Repetitions[:3] {
			step.Result.Generator = &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonNodeBusy}
		}
	}
	files, _, err := document.Of("002", all)
	must.Succeed(t, err)
	text, plot := string(files["seed-002.md"]), string(files["seed-002-p95.svg"])
	for _, want := range []string{
		"| **here, 20 users** | Median | 6ms (5.8ms–6.2ms) | 4ms (3.9ms–4.1ms)° | not decided: the machine was the limit° |",
		"| **Not decided** | Four workers have a lower median", "Not decided, since the machine was the limit: 002-v02 flask-users step 20 users, NodeBusy in 3 of 5.", "| NodeBusy in 3 of 5 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the document does not have %q", want)
		}
	}
	if n := strings.Count(plot, `class="ring"`); n != 5 { // four points and the legend
		t.Errorf("the plot has %d hollow points, want 4 and one in the legend", n)
	}
	record.Rungs(all["002-v01"].LoadTest("flask-users"))[0].Repetitions[0].Result.Sent++
	if _, _, err := document.Of("002", all); !errors.Is(err, document.ErrBroken) || !strings.Contains(err.Error(), "002-v01 flask-users step 1 users") {
		t.Errorf("Of() of a wrong result = %v", err)
	}
}

// Grants are counted whatever the machine did: they have a winner, rates have none.
func TestCountsHaveAWinnerOnABusyMachine(t *testing.T) {
	all := recordtest.All()
	for _, r := range all {
		for i := range r.LoadTests {
			for _, rung := range record.Rungs(&r.LoadTests[i]) {
				for _, step := range rung.Repetitions {
					step.Result.Generator = &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonNodeBusy}
				}
			}
		}
	}
	files, _, err := document.Of("004", all)
	must.Succeed(t, err)
	for _, want := range []string{
		"| **here** | Over-limit Grants | 150 | 0 | 0 | Transaction / Lua |",
		"| **here** | Throughput | 14/s° | 14/s° | 14/s° | not decided: the machine was the limit° |",
	} {
		if !strings.Contains(string(files["seed-004.md"]), want) {
			t.Errorf("the document does not have %q", want)
		}
	}
}

// What targets and clusters say is text: it breaks neither a table nor a plot.
func TestDocumentsTakeHostileText(t *testing.T) {
	all := recordtest.All()
	const hostile = "a|b\n<script>alert(1)</script>**"
	lt := all["003-1gb"].LoadTest("events-append")
	lt.Status.Audits[0].State, lt.Status.Audits[0].Message = v1beta1.AuditFailed, hostile
	all["003-1gb"].Environment.Machine = hostile
	for _, rung := range record.Rungs(lt) {
		for _, step := range rung.Repetitions {
			step.Result.Generator = &v1beta1.GeneratorStatus{Reason: hostile}
		}
	}
	files, _, err := document.Of("003", all)
	must.Succeed(t, err)
	for name, text := range files {
		if strings.Contains(string(text), "<script>") {
			t.Errorf("%s has markup of a result", name)
		}
		if filepath.Ext(name) == ".svg" {
			wellFormed(t, name, string(text))
		}
	}
}

package document_test

import (
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

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
			} else if strings.Contains(string(text), "|  |") {
				t.Errorf("%s has an empty cell", name)
			}
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

package lifecycle_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestStatusesForOtherPrograms keeps LoadTests of the stories for tests of what other
// programs make of them: for each phase, each verdict and each reason of a condition, the
// first that has it. What was measured is left out, but for one story.
func TestStatusesForOtherPrograms(t *testing.T) {
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(allStories())), func(name string) bool { return name == whole })
	golden.Check(t, statuses, documents(t, append([]string{whole}, others...)...))
}

// What was measured is in the first of them, which is soon compared.
func TestStatusesWithWhatWasMeasured(t *testing.T) {
	file, err := os.ReadFile(statuses)
	must.Succeed(t, err)
	got := documents(t, whole)
	same.As(t, "the first statuses", string(file[:min(len(file), len(got))]), got)
}

var statuses = filepath.Join("testdata", "statuses.yaml")

// documents are the LoadTests of these stories.
func documents(t *testing.T, names ...string) string {
	t.Helper()
	seen := map[string]bool{}
	var documents strings.Builder
	all := allStories()
	for _, name := range names {
		w := newWorld(t, ladder())
		w.LoadTest().APIVersion, w.LoadTest().Kind = v1beta1.GroupVersion.String(), "LoadTest"
		all[name](w)
		w.Wrote = func(lt *v1beta1.LoadTest) {
			if isNew(seen, lt.Status) {
				fmt.Fprintf(&documents, "---\n# %s, after %s\n%s", name, w.Now().Sub(began), document(t, lt, name == whole))
			}
		}
		storyOf(t, w)
	}
	return documents.String()
}

// whole is the story whose statuses are kept with what was measured.
const whole = "passes"

// isNew says whether the status has something that none before had, and notes it.
func isNew(seen map[string]bool, s v1beta1.LoadTestStatus) (is bool) {
	keys := []string{"phase " + string(s.Phase), "verdict " + string(s.Verdict) + " " + string(s.Phase)}
	for _, c := range s.Conditions {
		keys = append(keys, fmt.Sprint(c.Type, c.Status, c.Reason))
	}
	for _, key := range keys {
		is = is || !seen[key]
		seen[key] = true
	}
	return is
}

// document is a LoadTest, all of it or without what was measured.
func document(t *testing.T, lt *v1beta1.LoadTest, all bool) string {
	t.Helper()
	lt = lt.DeepCopy()
	if s := &lt.Status; !all {
		s.Steps, s.Thresholds, s.Audits, s.ResultRefs, s.Spread = nil, nil, nil, nil, nil
	}
	text, err := yaml.Marshal(lt)
	must.Succeed(t, err)
	return string(text)
}

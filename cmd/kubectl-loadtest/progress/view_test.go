package progress_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func example(t *testing.T) *v1beta1.LoadTest {
	t.Helper()
	data := must.ReadFile(t, "testdata/ladder.yaml")
	lt := &v1beta1.LoadTest{}
	must.Succeed(t, yaml.UnmarshalStrict(data, lt))
	return lt
}

// later is 12 s after the start of the step that runs in the example.
var later = time.Date(2026, 11, 20, 10, 16, 12, 0, time.UTC)

// TestView compares screens of two widths with what they should show. go test -update
// writes them.
func TestView(t *testing.T) {
	for _, width := range []int{80, 120} {
		got := strings.Join(progress.View(example(t), later, width, 40), "\n") + "\n"
		golden.Check(t, filepath.Join("testdata", "view-"+strconv.Itoa(width)+".txt"), got)
	}
}

// Whatever the window, no line is wider and no view is higher than it, and the step that
// runs is there if there is room for the ladder at all.
func TestViewFitsEveryWindow(t *testing.T) {
	lt := example(t)
	for i := range 60 {
		step := lt.Status.Steps[len(lt.Status.Steps)-1].DeepCopy()
		step.Name = "more " + strconv.Itoa(i)
		lt.Status.Steps = append(lt.Status.Steps, *step)
	}
	for width := 1; width <= 200; width += 7 {
		for height := 1; height <= 60; height++ {
			lines := progress.View(lt, later, width, height)
			if len(lines) > height {
				t.Fatalf("%d lines in a window of %d", len(lines), height)
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > width {
					t.Fatalf("%d columns in a window of %d: %s", n, width, line)
				}
			}
			text := strings.Join(lines, "\n")
			if height >= 10 && width >= 40 && !strings.Contains(text, progress.MarkRunning+" 100 users") {
				t.Fatalf("the step that runs is not on a screen of %d x %d:\n%s", width, height, text)
			}
		}
	}
}

// Nothing but the block is known of a run that has not begun.
func TestViewBeforeTheFirstStep(t *testing.T) {
	lt := &v1beta1.LoadTest{}
	lt.Namespace, lt.Name = "shop", "hello"
	want := []string{"shop/hello  Pending", "  waiting for the operator"}
	same.As(t, "the view", want, progress.View(lt, later, 80, 24))
}

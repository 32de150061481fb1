package lifecycle_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/world"
)

// began is the instant at which a LoadTest is created.
var began = world.Began

// newWorld is a world without faults.
func newWorld(t *testing.T, spec v1beta1.LoadTestSpec) *world.World {
	t.Helper()
	w, err := world.New(spec)
	must.Succeed(t, err)
	return w
}

// storyOf runs a world to its end, and tells what happened.
func storyOf(t *testing.T, w *world.World) string {
	t.Helper()
	story, err := w.Run()
	if err != nil {
		t.Errorf("%v; the story:\n%s", err, story)
	}
	return story
}

// checkStory compares the story of a world, in which no pass may write to its inputs, with a
// golden file.
func checkStory(t *testing.T, w *world.World, folder, name string) {
	t.Helper()
	w.Decide = func(lt *v1beta1.LoadTest, rules policy.Rules, seen lifecycle.Observed, now time.Time) lifecycle.Decision {
		d, err := lifecycle.DecideUnwritten(lt, rules, seen, now)
		must.Report(t, "inputs", err)
		return d
	}
	golden.Check(t, filepath.Join("testdata", folder, name+".txt"), storyOf(t, w))
}

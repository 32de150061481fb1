package local_test

import (
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Loads side by side, after each other and in the background, from the manifest to the counts of the target.
func TestLoadsSideBySideAreCarriedOutHere(t *testing.T) {
	s := newTarget(t, path)
	lt := loadTest(t, s.URL, `{target: {url: TARGET},
  requests: [{name: read, http: {path: /read}}, {name: write, http: {path: /write}}, {name: ping, http: {path: /ping}}],
  loads: [{name: readers, requests: [read], ladder: {rates: [15, 25], duration: 1s}},
    {name: writers, requests: [write], after: readers, delay: 100ms, steps: [{name: all, rate: 20, duration: 1s}]},
    {name: noise, requests: [ping], background: true, steps: [{name: all, rate: 10, duration: 1h}]}]}`)
	c, kept := config(t), map[string]int64{}
	c.Keep = func(step *archive.Step) { kept[step.UID] += step.Sent }
	got, loads, err := local.RunLoads(t.Context(), lt, c)
	must.Succeed(t, err)
	if why := v1beta1.NotCarriedOut(got.Status.Conditions); why != nil {
		t.Fatalf("%s: %s", why.Reason, why.Message)
	}
	by := got.Status.Loads
	same.As(t, "sent by load", s.seen, map[string]int{"/read": int(by[0].Result.Sent), "/write": int(by[1].Result.Sent), "/ping": int(by[2].Result.Sent)})
	same.As(t, "sent by what is kept of the steps", map[string]int64{by[0].UID: by[0].Result.Sent, by[1].UID: by[1].Result.Sent, by[2].UID: by[2].Result.Sent}, kept)
	same.As(t, "due", []int64{40, 20}, []int64{by[0].Result.Due, by[1].Result.Due})
	if sum := by[0].Result.Sent + by[1].Result.Sent + by[2].Result.Sent; got.Status.Together.Sent != sum || !by[2].Ended {
		t.Errorf("together %d of %d sent; the background ended with the run: %v", got.Status.Together.Sent, sum, by[2].Ended)
	}
	for _, one := range loads {
		if age := time.Since(one.CreationTimestamp.Time); age > time.Hour {
			t.Errorf("%s was created %s ago", one.Name, age)
		}
	}
	first, second := loads[0].Status.Steps[0], loads[1].Status.Steps[0]
	if d := second.StartTime.Sub(loads[0].Status.Steps[1].CompletionTime.Time); d < 0 {
		t.Errorf("the second begins %s after the end of the first", d)
	}
	if together := loads[2].Status.Steps[0].StartTime.Sub(first.StartTime.Time); together != 0 {
		t.Errorf("two loads begin %s apart", together)
	}
}

// The end of the run ends its loads, with what was measured.
func TestLoadsAreEndedHere(t *testing.T) {
	s := newTarget(t, nil)
	lt := loadTest(t, s.URL, `{target: {url: TARGET}, requests: [{name: read, http: {path: /read}}],
  loads: [{name: a, steps: [{name: all, rate: 40, duration: 1h}]}, {name: b, steps: [{name: all, rate: 40, duration: 1h}]}]}`)
	c := config(t)
	terminate := make(chan struct{})
	var once sync.Once
	c.Terminate, c.Show = terminate, func(lt *v1beta1.LoadTest) {
		if lt.Status.Phase == v1beta1.PhaseRunning {
			once.Do(func() { close(terminate) })
		}
	}
	got, loads, err := local.RunLoads(t.Context(), lt, c)
	must.Succeed(t, err)
	same.As(t, "verdict", v1beta1.VerdictCanceled, got.Status.Verdict)
	for _, one := range loads {
		if !lifecycle.Finished(one) {
			t.Errorf("%s has not ended", one.Name)
		}
	}
}

// What a load cannot have here is refused with its field, and no other load goes on.
func TestLoadsThatCannotRunHere(t *testing.T) {
	lt := loadTest(t, "http://127.0.0.1:1", `{target: {url: TARGET}, requests: [{name: read, http: {path: /read}}],
  loads: [{name: a, steps: [{name: all, rate: 40, duration: 1h}]}]}`)
	c := config(t)
	c.Command = []string{"/no/such/worker"}
	_, _, err := local.RunLoads(t.Context(), lt, c)
	must.Say(t, err, "load "+lt.Name+"-a: ")
	c.Results = &local.Results{}
	_, _, err = local.RunLoads(t.Context(), lt, c)
	must.Say(t, err, "--results: ")
}

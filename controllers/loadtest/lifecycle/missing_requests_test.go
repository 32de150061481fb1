package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/world"
)

// fates are what can become of a worker in a step; each is drawn.
const (
	ends     = iota // and says how it went
	dies            // and says nothing more
	drains          // ends early, and says how it went
	vanishes        // is never heard of, and sends
	fates
)

// fleet is a step of several workers, and a target that counts what it is sent.
type fleet struct {
	lt     *v1beta1.LoadTest
	seen   lifecycle.Observed
	served int64
	broken bool // a worker did not go to the end
}

// newFleet has the workers of a load meet their fates.
func newFleet(t *testing.T, rng *rand.Rand, step v1beta1.Step) *fleet {
	t.Helper()
	f := &fleet{lt: &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{
		Target: v1beta1.Target{Service: &v1beta1.ServiceReference{Name: "shortener"}}, Requests: []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{}}},
		Steps: []v1beta1.Step{step}, Parallelism: ptr.To(rng.Int32N(6) + 1),
	}}}
	planned, refusal := plan.New(f.lt, policy.Rules{})
	if refusal != nil {
		t.Fatal(refusal)
	}
	planned.Record(&f.lt.Status)
	f.lt.Status.StartTime = ptr.To(metav1.NewTime(began))
	f.lt.Status.Steps[0].State, f.lt.Status.Steps[0].StartTime = v1beta1.StepRunning, ptr.To(metav1.NewMicroTime(began))
	f.seen = lifecycle.Observed{Job: lifecycle.JobPresent, Since: began}
	merged, load := measure.NewMeasurement(1), &f.lt.Status.Steps[0].Load
	report := &exchange.Report{Merged: merged, Until: began.Add(time.Second), ShortestWindow: time.Second}
	for n := range planned.Workers {
		share := world.Due(load, int(n), int(planned.Workers), load.Duration.Duration)
		w := f.fate(rng, share)
		f.seen.Workers = append(f.seen.Workers, w)
		if !w.Reported {
			continue
		}
		report.Reporting++
		merged.Due += w.Due
		merged.Requests[0].Sent += w.Sent
		merged.Requests[0].Outcomes[measure.Unfinished] += w.Sent
	}
	if report.Reporting > 0 {
		f.seen.Step = report
	}
	return f
}

// fate is a worker as it is seen at the end of a step of which so many requests are
// its own.
func (f *fleet) fate(rng *rand.Rand, share int64) exchange.Worker {
	upTo := func(n int64) int64 { return rng.Int64N(n + 1) }
	w := exchange.Worker{Pod: exchange.PodRunning, Connected: true, Ready: true, Reported: true}
	sent := share - upTo(share)*upTo(1) // some may not have been sent in time
	switch rng.IntN(fates) {
	case ends:
		w.Final, w.Sent, w.Due = true, sent, share
	case dies:
		w.Pod, w.Connected = exchange.PodEnded, false
		w.Sent = upTo(sent)
		w.Due = w.Sent + upTo(share-w.Sent)
		f.broken = true
	case drains:
		w.Final, w.Cut, w.PodEnding, w.Sent, w.Due = true, true, true, sent, sent
		f.broken = true
	case vanishes:
		w.Pod, w.Connected, w.Reported = exchange.PodAbsent, false, false
		f.broken = true
	}
	f.served += sent
	return w
}

// What the target was sent and the status does not count is never more than the status
// says is missing, and a step that lacks anything is never complete.
func TestNoMoreIsMissingThanIsSaid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	tight, cases := 0, 1000
	if testing.Short() {
		cases = 200
	}
	for i := range cases {
		users, length := rng.Int32N(30)+1, &metav1.Duration{Duration: time.Second}
		step := v1beta1.Step{Users: &users, RatePerUser: ptr.To(v1beta1.NewDecimal(fmt.Sprint(rng.IntN(4) + 1))), Duration: length}
		if i%2 == 0 {
			step = v1beta1.Step{Rate: ptr.To(v1beta1.NewDecimal(fmt.Sprint(rng.IntN(90) + 1))), Duration: length}
		}
		f := newFleet(t, rng, step)
		s := lifecycle.Decide(f.lt, policy.Rules{}, f.seen, began.Add(time.Hour)).Status.Steps[0]
		counted := int64(0)
		if s.Result != nil {
			counted = s.Result.Sent
		}
		missing := f.served - counted
		switch {
		case !f.broken && (s.State != v1beta1.StepComplete || s.MissingAtMost != nil || missing != 0):
			t.Fatalf("case %d: all went to the end, and the step is %s, with %v missing at most and %d missing: %s", i, s.State, s.MissingAtMost, missing, s.Message)
		case f.broken && (s.State != v1beta1.StepCut || s.MissingAtMost == nil || *s.MissingAtMost < missing):
			t.Fatalf("case %d: the step is %s, with %v missing at most and %d missing: %+v", i, s.State, s.MissingAtMost, missing, f.seen.Workers)
		case f.broken && *s.MissingAtMost == missing:
			tight++
		}
	}
	if tight == 0 {
		t.Error("no bound was ever reached")
	}
}

// Where all workers have handed over what they measured nothing is missing, even if no
// number of requests was planned; where one has not, no bound is known then.
func TestMissingRequestsOfUsersWithoutARate(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(*exchange.Worker)
		state v1beta1.StepState
		want  *int64
	}{
		"both went to the end":            {func(*exchange.Worker) {}, v1beta1.StepComplete, nil},
		"one cut the step":                {func(w *exchange.Worker) { w.Cut = true }, v1beta1.StepCut, new(int64)},
		"the pod of one is being deleted": {func(w *exchange.Worker) { w.PodEnding = true }, v1beta1.StepCut, new(int64)},
		"one ended without a last report": {func(w *exchange.Worker) { w.Final, w.Pod = false, exchange.PodEnded }, v1beta1.StepCut, nil},
	} {
		t.Run(name, func(t *testing.T) {
			final := ready
			final.Final, final.Reported = true, true
			seen := awaited(final, final)
			tc.edit(&seen.Workers[1])
			lt := limited(0)
			lt.Status.Workers.Desired = 2
			seen.Step = measured(0, 2, 10, began.Add(20*time.Second))
			seen.Step.ShortestWindow = 10 * time.Second
			seen.Workers[0].Sent, seen.Workers[1].Sent = 5, 5
			step := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(20*time.Second)).Status.Steps[0]
			if step.State != tc.state || (step.MissingAtMost == nil) != (tc.want == nil) || tc.want != nil && *step.MissingAtMost != *tc.want {
				t.Errorf("the step is %s, with %v missing at most; want %s, %v", step.State, step.MissingAtMost, tc.state, tc.want)
			}
		})
	}
}

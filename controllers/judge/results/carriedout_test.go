package results_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestOnlyAPlanThatWasCarriedOutIsComplete(t *testing.T) {
	// Shares of 8000 requests; those of 200 in a burst are a fortieth of it.
	finals := func(shares ...int64) (workers []exchange.Worker) {
		for _, due := range shares {
			workers = append(workers, exchange.Worker{Final: true, Due: due})
		}
		return workers
	}
	all := finals(2720, 2640, 2640)
	but := func(edit func(*exchange.Worker)) []exchange.Worker {
		workers := slices.Clone(all)
		edit(&workers[1])
		return workers
	}
	rate := v1beta1.NewDecimal("2")
	planned := v1beta1.StepLoad{Users: 100, RatePerUser: &rate, Requests: 8000, Duration: &metav1.Duration{Duration: 40 * time.Second}}
	unplanned := planned
	unplanned.Requests, unplanned.RatePerUser = 0, nil
	burst := v1beta1.StepLoad{Users: 100, RequestsPerUser: 2, Requests: 200, MaxDuration: planned.Duration}
	sessions := v1beta1.StepLoad{Rate: &rate, Sessions: ptr.To(int64(200)), Duration: planned.Duration}
	came := func(shares ...int64) (workers []exchange.Worker) {
		for _, n := range shares {
			workers = append(workers, exchange.Worker{Final: true, Due: 5 * n, SessionsDue: n})
		}
		return workers
	}
	drawn := sessions
	drawn.Sessions = new(int64)
	for name, tc := range map[string]struct {
		load    v1beta1.StepLoad
		workers []exchange.Worker
		due     int64 // requests, or sessions
		window  time.Duration
		want    string
	}{
		"all was due":                    {planned, all, 8000, 40 * time.Second, ""},
		"all but one were due":           {planned, all, 7999, 40 * time.Second, "only 7999 of the 8000 planned requests came due."},
		"more was due":                   {planned, all, 8001, 40 * time.Second, "8001 requests came due, but only 8000 were planned."},
		"a worker cut it in the drain":   {planned, but(func(w *exchange.Worker) { w.Cut = true }), 8000, 40 * time.Second, "only 2 of 3 workers completed it."},
		"a pod that is being deleted":    {planned, but(func(w *exchange.Worker) { w.PodEnding = true }), 8000, 40 * time.Second, "only 2 of 3 workers completed it."},
		"a last report is missing":       {planned, but(func(w *exchange.Worker) { w.Final = false }), 8000, 40 * time.Second, "only 2 of 3 workers completed it."},
		"one worker's share, and more":   {planned, finals(2721, 2639, 2640), 8000, 40 * time.Second, "2721 requests came due on worker 0, but 2720 were planned for it."},
		"a burst":                        {burst, finals(68, 66, 66), 200, 3 * time.Second, ""},
		"a part of a burst":              {burst, all, 199, 3 * time.Second, "only 199 of the 200 planned requests came due."},
		"a plan, whose window is not":    {planned, all, 8000, time.Second, ""},
		"no share without a last report": {planned, but(func(w *exchange.Worker) { w.Final, w.Due = false, 7 }), 8000, 40 * time.Second, "only 2 of 3 workers completed it."},
		"twice as many as one":           {v1beta1.StepLoad{Users: 1, RequestsPerUser: 1, Requests: 1}, finals(1), 2, time.Second, "2 requests came due, but only 1 were planned."},
		"sessions":                       {sessions, came(67, 67, 66), 200, 40 * time.Second, ""},
		"a session less":                 {sessions, came(67, 67, 65), 199, 40 * time.Second, "only 199 of the 200 planned sessions came due."},
		"a session more":                 {sessions, came(67, 67, 67), 201, 40 * time.Second, "201 sessions came due, but only 200 were planned."},
		"sessions on another worker":     {sessions, came(68, 66, 66), 200, 40 * time.Second, "68 sessions came due on worker 0, but 67 were planned for it."},
		"drawn sessions":                 {drawn, came(70, 60, 66), 196, 40 * time.Second, ""},
		"drawn sessions, and cut":        {drawn, came(70, 60, 66), 196, 39 * time.Second, "a worker sent load for only 39s of 40s."},
		"no plan, the whole time":        {unplanned, all, 77, 40 * time.Second, ""},
		"no plan, less than the time":    {unplanned, all, 77, 40*time.Second - 1, "a worker sent load for only 39.999s of 40s."},
		"no plan, and cut":               {unplanned, but(func(w *exchange.Worker) { w.Cut = true }), 77, 40 * time.Second, "only 2 of 3 workers completed it."},
	} {
		t.Run(name, func(t *testing.T) {
			report := &exchange.Report{Merged: measure.NewMeasurement(1), ShortestWindow: tc.window}
			report.Merged.Due, report.Merged.Window = tc.due, time.Hour
			if tc.load.Sessions != nil {
				report.Merged.Due, report.Merged.Sessions.Due = 5*tc.due, tc.due
			}
			if got := results.NotCarriedOut(&v1beta1.StepStatus{Load: tc.load}, tc.workers, report); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// A worker that begins late has sent nothing in the first part of its window.
func TestLateBeginningIsNoLoad(t *testing.T) {
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	step := &v1beta1.StepStatus{StartTime: &metav1.MicroTime{Time: start}, Load: v1beta1.StepLoad{
		Users: 10, WarmUp: &metav1.Duration{Duration: 5 * time.Second}, Duration: &metav1.Duration{Duration: 40 * time.Second},
	}}
	for name, tc := range map[string]struct {
		began time.Time
		error time.Duration
		want  string
	}{
		"it sent nothing":                   {time.Time{}, time.Millisecond, ""},
		"in time":                           {start, 0, ""},
		"in the warm-up":                    {start.Add(5 * time.Second), 0, ""},
		"a moment after it":                 {start.Add(5500 * time.Millisecond), 0, ""},
		"late":                              {start.Add(5501 * time.Millisecond), 0, "a worker sent load for only 39.499s of 40s."},
		"late, as far as the clock's error": {start.Add(5501 * time.Millisecond), time.Millisecond, ""},
		"after a long reconnect":            {start.Add(32 * time.Second), 0, "a worker sent load for only 13s of 40s."},
	} {
		report := &exchange.Report{Merged: measure.NewMeasurement(1), ShortestWindow: 40 * time.Second}
		report.Merged.LastStart, report.Merged.ClockError = tc.began, tc.error
		same.As(t, name, tc.want, results.NotCarriedOut(step, []exchange.Worker{{Final: true}}, report))
	}
}

// However much was due, a step is not carried out that a worker began late.
func TestPlanThatWasBegunLateIsNotCarriedOut(t *testing.T) {
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	const late, earlier = "a worker began the step 501ms late.", "its workers began at a start time that another replica had chosen, and sent requests late."
	for name, tc := range map[string]struct {
		first, last time.Duration // when workers began, after the start
		late        int64         // of 40 requests
		want        string
	}{
		"in time":                     {0, 500 * time.Millisecond, 0, ""},
		"late":                        {0, 501 * time.Millisecond, 0, late},
		"later than the first":        {-301 * time.Millisecond, 200 * time.Millisecond, 0, late},
		"by an earlier instant":       {-5 * time.Second, -5 * time.Second, 0, ""},
		"by an earlier instant, late": {-5 * time.Second, -5 * time.Second, 40, earlier},
	} {
		report := &exchange.Report{Merged: measure.NewMeasurement(1), ShortestWindow: 40 * time.Second}
		m := report.Merged
		m.Due, m.Requests[0].Late, m.FirstStart, m.LastStart = 40, tc.late, start.Add(tc.first), start.Add(tc.last)
		step := &v1beta1.StepStatus{StartTime: &metav1.MicroTime{Time: start}, Load: v1beta1.StepLoad{Rate: decimal("1"), Requests: 40, Duration: d(40 * time.Second)}}
		same.As(t, name, tc.want, results.NotCarriedOut(step, []exchange.Worker{{Final: true, Due: 40}}, report))
		if got := results.RestCarriedOut(step, []exchange.Worker{{Final: true, Due: 40}}, report, func(int) bool { return false }); got != (tc.want == "") {
			t.Errorf("%s: the rest is carried out: %t", name, got)
		}
		m.Requests[0].Late = 40
		if step.StartTime = nil; results.BeganLate(step, report) {
			t.Errorf("%s: a step without a start began late", name)
		}
		m.LastStart, step.StartTime = time.Time{}, &metav1.MicroTime{Time: start}
		if results.BeganLate(step, report) {
			t.Errorf("%s: a step that no worker began is said to have begun late", name)
		}
	}
}

// Workers that began a step by an earlier instant, which another operator chose, began it
// on time unless as much was sent late as is due in half a second, and more than 1 %.
func TestStepByAnEarlierInstantIsLateIfItsRequestsAre(t *testing.T) {
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	lasting := func(d time.Duration) v1beta1.StepLoad {
		return v1beta1.StepLoad{Users: 10, Duration: &metav1.Duration{Duration: d}}
	}
	burst := v1beta1.StepLoad{Users: 120, RequestsPerUser: 1, Requests: 120}
	for name, tc := range map[string]struct {
		load      v1beta1.StepLoad
		due, late int64
		began     time.Duration // after the step's start
		error     time.Duration // of the workers' clocks
		want      bool
	}{
		"some of a short step":                          {lasting(8 * time.Second), 120, 7, -5 * time.Second, 0, false},
		"half a second of it":                           {lasting(8 * time.Second), 120, 8, -5 * time.Second, 0, true},
		"1 % of a long step":                            {lasting(time.Minute), 3600, 36, -5 * time.Second, 0, false},
		"more of it":                                    {lasting(time.Minute), 3600, 37, -5 * time.Second, 0, true},
		"one of a burst":                                {burst, 120, 1, -5 * time.Second, 0, false},
		"more of it than 1 %":                           {burst, 120, 2, -5 * time.Second, 0, true},
		"all, by the step's start":                      {lasting(8 * time.Second), 120, 120, 0, 0, false},
		"all, half a second before":                     {lasting(8 * time.Second), 120, 120, -500 * time.Millisecond, 0, false},
		"all, before that":                              {lasting(8 * time.Second), 120, 120, -501 * time.Millisecond, 0, true},
		"all, before that, as far as the clock's error": {lasting(8 * time.Second), 120, 120, -501 * time.Millisecond, time.Millisecond, false},
		"none, but begun late":                          {lasting(8 * time.Second), 120, 0, 501 * time.Millisecond, 0, true},
	} {
		merged := measure.NewMeasurement(1)
		merged.Due, merged.Requests[0].Late = tc.due, tc.late
		merged.FirstStart, merged.ClockError = start.Add(tc.began), tc.error
		merged.LastStart = merged.FirstStart
		at := metav1.NewMicroTime(start)
		step := &v1beta1.StepStatus{Load: tc.load, StartTime: &at}
		same.As(t, name+": began late", tc.want, results.BeganLate(step, &exchange.Report{Merged: merged}))
	}
}

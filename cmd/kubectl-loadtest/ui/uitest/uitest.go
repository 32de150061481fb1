package uitest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// Now is the time at which the runs are shown.
var Now = time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)

// Hostile is what a name or a message may be, and must not become markup.
const Hostile = `</title><script>document.body.innerHTML="broken";broken=1</script><img src=x onerror="broken=2">"'` + "`${broken=3}`"

// Finished is a ladder that ended so long ago. Its name is the schedule's with a number.
func Finished(t *testing.T, number int, ago time.Duration, users ...int32) *v1beta1.LoadTest {
	t.Helper()
	lt := reporttest.Ladder(t, users...)
	named(lt, number, ago)
	lt.Labels = map[string]string{decision.LabelSchedule: "nightly"}
	lt.Status.Summary = v1beta1.Summary{Step: fmt.Sprintf("%d/%d", len(users), len(users)), Workers: "4/4", Goodput: "1990/s", P95: "41ms", Errors: "0.2%"}
	return lt
}

// named gives a run a number and an age.
func named(lt *v1beta1.LoadTest, number int, ago time.Duration) {
	lt.Name = fmt.Sprintf("nightly-%d", number)
	lt.UID = types.UID("uid-" + lt.Name)
	lt.ResourceVersion = fmt.Sprint(number + 1)
	lt.CreationTimestamp = metav1.NewTime(Now.Add(-ago))
}

// Running is a run in its second step, which has failures, so many seconds after that began.
func Running(t *testing.T, seconds int) *v1beta1.LoadTest {
	t.Helper()
	lt := reporttest.Ladder(t, 100, 500, 1000)
	lt.Name, lt.UID, lt.ResourceVersion = "checkout-now", "uid-now", fmt.Sprint(1000+seconds)
	begun := Now.Add(-time.Duration(seconds) * time.Second)
	lt.CreationTimestamp = metav1.NewTime(begun.Add(-20 * time.Second))
	s := &lt.Status
	s.Phase, s.Verdict, s.CurrentStep, s.CompletionTime, s.MaxSustainedUsers = v1beta1.PhaseRunning, "", 1, nil, nil
	s.Conditions, s.Thresholds = nil, nil
	s.Summary = v1beta1.Summary{Step: "2/3", Workers: "4/4", Goodput: "480/s", P95: "31ms", Errors: "4%", Sustained: "100 users"}
	s.Steps[2] = v1beta1.StepStatus{Name: s.Steps[2].Name, Rung: 3, State: v1beta1.StepPending, Load: s.Steps[2].Load}
	step := &s.Steps[1]
	step.State, step.ThresholdState, step.CompletionTime = v1beta1.StepRunning, "", nil
	step.StartTime = &metav1.MicroTime{Time: begun}
	step.ReportedUntil = &metav1.MicroTime{Time: Now}
	n := int64(seconds)
	failed := 20 * n
	step.Result.Counts = v1beta1.Counts{
		Sent: 498 * n, Completed: 490 * n, Expected: 490*n - failed, InFlight: 8, Failed: 8*n - 8 + failed,
		Outcomes: v1beta1.Outcomes{Success: 490*n - failed, ServerError: failed, Timeout: 8*n - 8},
	}
	step.Result.Due = 500 * n
	step.Result.Unsent = 2 * n
	step.Result.Histogram = ""
	step.Result.WithoutGenerator = &v1beta1.Latency{P50: duration(6), P95: duration(9), P99: duration(14)}
	step.Result.Requests = []v1beta1.RequestResult{
		{Name: "cart", PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{Sent: 398 * n, Completed: 398 * n, Expected: 398 * n, Outcomes: v1beta1.Outcomes{Success: 398 * n}}}},
		{Name: "pay", PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{
			Sent: 100 * n, Completed: 92 * n, Expected: 92*n - failed, Failed: 8*n + failed, Outcomes: v1beta1.Outcomes{Success: 92*n - failed, ServerError: failed, Timeout: 8 * n},
			StatusCodes: []v1beta1.StatusCodeCount{{Code: 200, Count: 92*n - failed}, {Code: 503, Count: failed}},
		}}},
	}
	return lt
}

func duration(millis int) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(millis) * time.Millisecond}
}

// WithErrors is a finished run with requests, error samples and traces, in which every text that
// a person or a target gives is the same one.
func WithErrors(t *testing.T, name, text string) *v1beta1.LoadTest {
	t.Helper()
	lt := Finished(t, 0, 50*time.Minute, 100, 1000, 4000)
	lt.Name, lt.UID, lt.Labels = name, types.UID("uid-"+name), nil
	s := &lt.Status
	s.TargetURL = text
	lt.Spec.Target = v1beta1.Target{URL: text}
	for i := range s.Conditions {
		s.Conditions[i].Message = text
	}
	for i := range s.Thresholds {
		s.Thresholds[i].Name, s.Thresholds[i].Message = text, text
	}
	s.Requests = []v1beta1.RequestStatus{{Name: "cart", Type: text}, {Name: text, Type: "pay"}}
	step := &s.Steps[2]
	step.Name, step.Message = text, text
	r := step.Result
	r.Generator.Healthy, r.Generator.Reason, r.Generator.Message = false, text, text
	part := v1beta1.PartResult{
		Counts:       v1beta1.Counts{Sent: 600, Completed: 580, Expected: 500, Failed: 100, Outcomes: v1beta1.Outcomes{Success: 500, ServerError: 80, Timeout: 20}},
		ResponseTime: &v1beta1.Latency{Samples: 600, P50: duration(20), P95: duration(800), P99: duration(1900)},
	}
	r.Requests = []v1beta1.RequestResult{{Name: "cart", PartResult: part}, {Name: text, PartResult: part, ErrorSamples: []v1beta1.ErrorSample{
		{Outcome: "serverError", Message: text}, {Outcome: "timeout", Message: "no answer within 2s"},
	}}}
	traced := v1beta1.TracedRequest{TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", Request: text, Outcome: "serverError", StatusCode: 503, ResponseTime: *duration(1900), ServiceTime: *duration(1700)}
	r.Traces = &v1beta1.TraceResult{Sampled: 6, Slowest: []v1beta1.TracedRequest{traced}, Failed: []v1beta1.TracedRequest{traced}}
	return lt
}

// Schedule is the one that the finished runs are of.
func Schedule() *v1beta1.LoadTestSchedule {
	return &v1beta1.LoadTestSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "nightly"},
		Status: v1beta1.LoadTestScheduleStatus{
			Summary:    v1beta1.ScheduleSummary{Schedule: "30 2 * * 1-5", Verdict: "Passed", Trend: "p99 41.2ms, +3%", Next: "2026-11-25 02:30 UTC"},
			Conditions: []metav1.Condition{{Type: v1beta1.ConditionReady, Status: metav1.ConditionTrue, Message: "The next LoadTest starts at 2026-11-25T02:30:00Z."}},
		},
	}
}

// Fill puts so many finished runs of the schedule into a backend, and one that runs.
func Fill(t *testing.T, into *Backend, finished int) {
	t.Helper()
	kinds := []*v1beta1.LoadTest{Finished(t, 0, 0, 100, 500, 1000), Finished(t, 0, 0, 100, 500, 2000), Finished(t, 0, 0, 100, 500, 4000)}
	for n := range finished {
		lt := kinds[n%len(kinds)].DeepCopy()
		named(lt, n, time.Duration(finished-n)*24*time.Hour/4)
		if n%5 == 4 {
			lt.Status.MaxSustainedUsers = ptr.To(int32(500))
		}
		into.Put(lt)
	}
	into.Runs.PutSchedule(Schedule())
	for seconds := 1; seconds <= 6; seconds++ {
		lt := Running(t, seconds)
		lt.Status.Steps[1].StartTime = &metav1.MicroTime{Time: Now.Add(-6 * time.Second)}
		lt.Status.Steps[1].ReportedUntil = &metav1.MicroTime{Time: Now.Add(time.Duration(seconds-6) * time.Second)}
		into.Put(lt)
	}
	into.Runs.Complete()
}

// Backend has LoadTests, and notes what is done with them.
type Backend struct {
	Runs *runs.Collection
	// Err is what each call ends with; nil: it succeeds.
	Err error
	// OnStop is called with each run that is ended; nil: nothing is.
	OnStop func(key runs.Key)

	mu    sync.Mutex
	Done  []string
	Tests map[runs.Key]*v1beta1.LoadTest
}

// Put adds a LoadTest to the backend and to the collection.
func (b *Backend) Put(lt *v1beta1.LoadTest) {
	b.mu.Lock()
	if b.Tests == nil {
		b.Tests = map[runs.Key]*v1beta1.LoadTest{}
	}
	b.Tests[runs.Key{Namespace: lt.Namespace, Name: lt.Name}] = lt
	b.mu.Unlock()
	b.Runs.Put(lt)
}

// note notes what was done.
func (b *Backend) note(what string, key runs.Key) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Done = append(b.Done, what+" "+key.Namespace+"/"+key.Name)
	return b.Err
}

// Noted are the calls so far.
func (b *Backend) Noted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.Done...)
}

// Open returns a LoadTest.
func (b *Backend) Open(_ context.Context, key runs.Key) (*v1beta1.LoadTest, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if lt := b.Tests[key]; lt != nil && b.Err == nil {
		return lt, nil
	}
	if b.Err != nil {
		return nil, b.Err
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: v1beta1.GroupVersion.Group, Resource: "loadtests"}, key.Name)
}

// Results are those of a finished run, unless who asked is gone.
func (b *Backend) Results(ctx context.Context, lt *v1beta1.LoadTest) ([]*archive.Step, []string) {
	if err := ctx.Err(); err != nil {
		return nil, []string{"No plots over time of step 500: " + err.Error()}
	}
	if lt.Status.Verdict == "" {
		return nil, []string{"No plots over time of step 500: ConfigMap results is not there."}
	}
	return reporttest.Archived(lt), nil
}

// Stop notes that a run was ended.
func (b *Backend) Stop(_ context.Context, key runs.Key) error {
	if err := b.note("stop", key); err != nil {
		return err
	}
	if b.OnStop != nil {
		b.OnStop(key)
	}
	return nil
}

// Again puts a copy of a run under a new name.
func (b *Backend) Again(ctx context.Context, key runs.Key) (runs.Key, error) {
	if err := b.note("again", key); err != nil {
		return runs.Key{}, err
	}
	old, err := b.Open(ctx, key)
	if err != nil {
		return runs.Key{}, err
	}
	lt := old.DeepCopy()
	lt.Name, lt.UID, lt.Status = old.Name+"-abcde", old.UID+"-abcde", v1beta1.LoadTestStatus{Phase: v1beta1.PhasePending}
	lt.CreationTimestamp = metav1.NewTime(Now)
	b.Put(lt)
	return runs.Key{Namespace: lt.Namespace, Name: lt.Name}, nil
}

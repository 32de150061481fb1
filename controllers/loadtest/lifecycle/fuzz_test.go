package lifecycle_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// choices are the bytes of a fuzzer, read one after another; after the last they are 0.
type choices []byte

func (c *choices) of(n int) int {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return int(b) % n
}

func (c *choices) yes() bool { return c.of(2) == 1 }

// instant is none, or one of a few minutes around began.
func (c *choices) instant() *metav1.MicroTime {
	if c.yes() {
		return nil
	}
	return ptr.To(metav1.NewMicroTime(began.Add(time.Duration(c.of(256)-128) * time.Second)))
}

func (c *choices) seconds() *metav1.Duration {
	if c.yes() {
		return nil
	}
	return &metav1.Duration{Duration: time.Duration(c.of(256)-16) * time.Second}
}

// step is a step in any state, with anything missing.
func (c *choices) step() v1beta1.StepStatus {
	states := []v1beta1.StepState{v1beta1.StepPending, v1beta1.StepRunning, v1beta1.StepComplete, v1beta1.StepCut, v1beta1.StepSkipped, "", "Melted"}
	s := v1beta1.StepStatus{
		Name: "step", State: states[c.of(len(states))], StartTime: c.instant(), CompletionTime: c.instant(),
		TimeLimit: c.seconds(), ReportedUntil: c.instant(), WorkersReporting: int32(c.of(4)),
	}
	s.Load = v1beta1.StepLoad{Users: int32(c.of(3)), Duration: c.seconds(), MaxDuration: c.seconds(), Requests: int64(c.of(200)), RequestsPerUser: int32(c.of(3))}
	if c.of(3) == 2 {
		s.Load = v1beta1.StepLoad{Pause: c.seconds()}
	}
	if c.yes() {
		s.Result = &v1beta1.StepResult{Counts: v1beta1.Counts{Sent: int64(c.of(200)), InFlight: int64(c.of(9))}, Due: int64(c.of(200))}
	}
	return s
}

// status is any that the schema lets through.
func (c *choices) status() v1beta1.LoadTestStatus {
	s := v1beta1.LoadTestStatus{CurrentStep: int32(c.of(5)), Internal: v1beta1.InternalStatus{StopTime: c.instant()}}
	if c.of(8) > 0 {
		s.TargetURL = "http://shortener:8080"
	}
	s.Workers = v1beta1.WorkerCounts{Desired: int32(c.of(4)), Ready: int32(c.of(4)), Silent: int32(c.of(4)), Lost: int32(c.of(4))}
	if t := c.instant(); t != nil {
		s.StartTime = ptr.To(metav1.NewTime(t.Time))
	}
	if t := c.instant(); t != nil {
		s.CompletionTime = ptr.To(metav1.NewTime(t.Time))
	}
	for range c.of(5) {
		s.Steps = append(s.Steps, c.step())
	}
	for range c.of(3) {
		s.Thresholds = append(s.Thresholds, v1beta1.ThresholdStatus{Name: "p95", State: v1beta1.ThresholdPassed})
	}
	for _, condition := range []string{v1beta1.ConditionAccepted, v1beta1.ConditionFinished, v1beta1.ConditionCarriedOut, v1beta1.ConditionSuspended} {
		if c.of(4) == 3 {
			meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: "Some"})
		}
	}
	if c.of(4) == 3 {
		s.Verdict = v1beta1.VerdictPassed
	}
	return s
}

// observed is anything that may be seen of the workers that the status has.
func (c *choices) observed(desired int32) lifecycle.Observed {
	seen := lifecycle.Observed{Job: lifecycle.JobState(c.of(5)), From: int32(c.of(5))}
	if t := c.instant(); t != nil {
		seen.Since = t.Time
	}
	for range desired {
		seen.Workers = append(seen.Workers, exchange.Worker{
			Pod: exchange.PodState(c.of(4)), PodEnding: c.yes(), Connected: c.yes(), Ready: c.yes(), Final: c.yes(), Reported: c.yes(),
		})
	}
	if c.yes() {
		seen.Step = measured(int32(c.of(5)), int32(c.of(4)), int64(c.of(200)), began.Add(time.Duration(c.of(60))*time.Second))
	}
	return seen
}

// Whatever stands in the status, a pass neither panics nor leaves a run without an end
// that it is on its way to.
func FuzzDecide(f *testing.F) {
	f.Add([]byte(nil))
	for seed := range uint64(100) {
		r, data := rand.New(rand.NewPCG(seed, 0)), make([]byte, 96)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := choices(data)
		lt := &v1beta1.LoadTest{Spec: ladder()}
		lt.Spec.Terminate, lt.Spec.Suspend = c.of(8) == 7, c.of(8) == 7
		if c.yes() {
			lt.Spec.ActiveDeadlineSeconds = ptr.To(int64(1 + c.of(200)))
		}
		lt.Status = c.status()
		before := lt.DeepCopy()
		now := began.Add(time.Duration(c.of(256)) * time.Second)
		seen := c.observed(lt.Status.Workers.Desired)
		d, err := lifecycle.DecideUnwritten(lt, policy.Rules{}, seen, now)
		if err != nil {
			t.Error(err)
		}
		checkDecision(t, before, d)
	})
}

// checkDecision holds a decision to what must be true of any.
func checkDecision(t *testing.T, before *v1beta1.LoadTest, d lifecycle.Decision) {
	t.Helper()
	after := &v1beta1.LoadTest{Spec: before.Spec, Status: d.Status}
	over := lifecycle.Finished(after)
	if lifecycle.Finished(before) && !over {
		t.Error("a run that was over is not")
	}
	if over && !lifecycle.Finished(before) && d.Status.CompletionTime == nil {
		t.Error("a run is over without a completion time")
	}
	held := meta.IsStatusConditionTrue(d.Status.Conditions, v1beta1.ConditionSuspended)
	written := !equality.Semantic.DeepEqual(before.Status, d.Status) // which is read back
	if !over && !held && !written && d.RequeueAfter == 0 {
		t.Errorf("nothing wakes a run in phase %s", d.Status.Phase)
	}
	if d.Status.Verdict == v1beta1.VerdictPassed && before.Status.Verdict == "" {
		for i, s := range d.Status.Steps {
			if s.State != v1beta1.StepComplete {
				t.Errorf("the run passed, and step %d is %s", i, s.State)
			}
		}
	}
}

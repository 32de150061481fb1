package decision

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

// maxActive is how many LoadTests of a schedule there are at most that have not finished.
// The status has their names. Those that a person created for the schedule may be more.
const maxActive = 100

// finishedSince is the LoadTest that finished last, if that was after the one that is
// known.
func finishedSince(known *v1beta1.LoadTestScheduleStatus, runs []LoadTest) *LoadTest {
	done := newestFirst(slices.DeleteFunc(finished(runs), func(r LoadTest) bool { return !isSince(known, &r) }))
	if len(done) == 0 {
		return nil
	}
	return &done[0]
}

// isSince says whether a finished LoadTest has finished since a status was written. That follows from what the
// status has of it: a clock that was ahead, and was set back, had others finish in what is the future now.
func isSince(known *v1beta1.LoadTestScheduleStatus, r *LoadTest) bool {
	last := known.LastFinished
	switch {
	case last == nil:
		return true
	case last.Name == r.Name:
		return false
	case slices.Contains(known.Active, r.Name):
		return true
	}
	return isAfter(r, last) && !r.Completed.Before(completed(last)) || known.LastRun != nil && isAfter(r, known.LastRun)
}

// isAfter says whether a LoadTest was created after one of a status.
func isAfter(r *LoadTest, known *v1beta1.RunOfSchedule) bool {
	return known.StartTime == nil || r.Created.After(known.StartTime.Time)
}

func completed(r *v1beta1.RunOfSchedule) time.Time {
	if r.CompletionTime == nil {
		return time.Time{}
	}
	return r.CompletionTime.Time
}

// describe derives what the status says of the LoadTests.
func (d *decision) describe() {
	s := &d.out.Status
	s.Active = nil
	for _, r := range d.active() {
		if len(s.Active) < maxActive {
			s.Active = append(s.Active, r.Name)
		}
	}
	d.describeLevels()
	d.describeLast()
	if s.Summary.Schedule = strings.Join(d.triggers(), ", "); s.Summary.Schedule == "" {
		s.Summary.Schedule = "by hand"
	}
	s.NextRunTime, s.Summary.Next = nil, ""
	if d.times != nil && !d.Spec.Suspend {
		next := d.times.next(instant.Later(d.now, s.Considered.Until.Time))
		s.NextRunTime = &metav1.Time{Time: next}
		s.Summary.Next = next.In(d.times.zone).Format("2006-01-02 15:04 MST")
	}
}

// describeLast notes the LoadTests that were started, finished and passed last. What is
// known of one that is gone stays, but for a baseline, which has to be there.
func (d *decision) describeLast() {
	s := &d.out.Status
	if len(d.seen.Runs) > 0 {
		last := slices.MaxFunc(d.seen.Runs, byCreation)
		if s.LastRun == nil || s.LastRun.StartTime == nil || !last.Created.Before(s.LastRun.StartTime.Time) {
			s.LastRun = runOf(last)
		}
	}
	if r := finishedSince(&d.Status, d.seen.Runs); r != nil {
		s.LastFinished = runOf(*r)
		s.Summary.Verdict, s.Summary.Trend = string(r.Verdict), ""
		if m := d.seen.Measured[r.Name]; m != nil {
			s.Summary.Trend = m.Trend
		}
		d.event("Finished", "LoadTest %s has finished: %s.", r.Name, r.Verdict)
	}
	s.LastPassed = nil
	for _, r := range newestFirst(finished(d.seen.Runs)) {
		if s.LastPassed == nil && r.Verdict == v1beta1.VerdictPassed && !r.Deleting {
			s.LastPassed = runOf(r)
		}
	}
}

func runOf(r LoadTest) *v1beta1.RunOfSchedule {
	run := &v1beta1.RunOfSchedule{Name: r.Name, StartTime: &metav1.Time{Time: r.Created}, Verdict: r.Verdict}
	if r.Finished {
		run.CompletionTime = &metav1.Time{Time: r.Completed}
	}
	return run
}

// triggers are what starts a LoadTest.
func (d *decision) triggers() []string {
	var list []string
	if d.Spec.Schedule != "" {
		list = append(list, d.Spec.Schedule)
	}
	if d.Spec.OnRollout != nil {
		list = append(list, "rollout")
	}
	if d.Spec.OnChange {
		list = append(list, "change")
	}
	return list
}

// ready says when LoadTests start.
func (d *decision) ready() string {
	if len(d.triggers()) == 0 {
		return fmt.Sprintf("No LoadTest starts by itself: kubectl loadtest run --from schedule/%s starts one.", d.Name)
	}
	return fmt.Sprintf("LoadTests start on: %s.", d.out.Status.Summary.Schedule)
}

// holdReasons are the reasons of condition Suspended.
var holdReasons = map[policy.Cause]string{
	policy.Invalid: v1beta1.ReasonConfigurationInvalid,
	policy.Stopped: v1beta1.ReasonStopped,
	policy.Quiet:   v1beta1.ReasonQuietHours,
}

// judge sets the conditions.
func (d *decision) judge(problem *Problem) {
	s := &d.out.Status
	s.ObservedGeneration = d.Generation
	switch {
	case problem != nil:
	case d.seen.Refused != nil:
		problem = &d.seen.Refused.Problem
	case d.full != nil:
		problem = d.full
	default:
		problem = d.seen.Problem
	}
	if problem != nil {
		d.set(v1beta1.ConditionReady, metav1.ConditionFalse, problem.Reason, problem.Message)
	} else {
		d.set(v1beta1.ConditionReady, metav1.ConditionTrue, v1beta1.ReasonReady, d.ready())
	}
	if problem != nil && problem.Stalls {
		d.set(v1beta1.ConditionStalled, metav1.ConditionTrue, problem.Reason, problem.Message)
	} else {
		meta.RemoveStatusCondition(&s.Conditions, v1beta1.ConditionStalled)
	}
	switch {
	case d.Spec.Suspend:
		d.set(v1beta1.ConditionSuspended, metav1.ConditionTrue, v1beta1.ReasonSuspended, "spec.suspend is true: no LoadTest starts.")
	case d.seen.Hold != nil:
		d.set(v1beta1.ConditionSuspended, metav1.ConditionTrue, holdReasons[d.seen.Hold.Cause], d.seen.Hold.Why+" No LoadTest starts until that is over.")
	case meta.IsStatusConditionTrue(s.Conditions, v1beta1.ConditionSuspended):
		d.set(v1beta1.ConditionSuspended, metav1.ConditionFalse, v1beta1.ReasonResumed, "LoadTests start again.")
	}
}

func (d *decision) set(condition string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&d.out.Status.Conditions, metav1.Condition{
		Type: condition, Status: status, Reason: reason, Message: message,
		ObservedGeneration: d.Generation, LastTransitionTime: metav1.NewTime(d.now),
	})
}

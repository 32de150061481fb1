package decision

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

const (
	// rolloutEvery is how often a workload is looked at: four requests a minute for a
	// schedule, and no right to read all workloads.
	rolloutEvery = 15 * time.Second
	// lookAgain bounds the wait for a time, as a timer does not see that the clock was set.
	lookAgain = 5 * time.Minute
)

// decision is a Decision while it is made.
type decision struct {
	*v1beta1.LoadTestSchedule
	seen  Observed
	now   time.Time
	times *times // nil: none, or they cannot be read
	wakes []time.Time
	full  *Problem // nil: another LoadTest may start, or none is due
	out   Decision
}

// due is a LoadTest that has to be there.
type due struct {
	Start
	// done notes in the status that it is.
	done func(*v1beta1.LoadTestScheduleStatus)
	// at is its time; zero: it is none of the schedule's times.
	at time.Time
}

// Decide says what a schedule does next. It changes none of its arguments.
func Decide(s *v1beta1.LoadTestSchedule, seen Observed, now time.Time) Decision {
	d := &decision{LoadTestSchedule: s, seen: seen, now: now}
	d.out.Status = *s.Status.DeepCopy()
	problem := d.readSchedule()
	d.noteChange()
	d.start()
	d.describe()
	d.judge(problem)
	d.expire()
	d.out.RequeueAfter = d.requeueAfter()
	return d.out
}

// readSchedule reads the times, and notes from when on they count.
func (d *decision) readSchedule() *Problem {
	s := &d.out.Status
	if d.Spec.Schedule == "" {
		s.Considered = nil
		return nil
	}
	times, err := parse(&d.Spec, d.now)
	if err != nil {
		s.Considered = nil // once it is corrected, times count from then
		return &Problem{Reason: v1beta1.ReasonInvalidSchedule, Message: err.Error(), Stalls: true}
	}
	d.times = times
	switch text := spelled(&d.Spec); {
	case s.Considered == nil && s.ObservedGeneration < 0:
		s.Considered = &v1beta1.Considered{Schedule: text, Until: d.CreationTimestamp}
	case s.Considered == nil || s.Considered.Schedule != text:
		s.Considered = &v1beta1.Considered{Schedule: text, Until: metav1.NewTime(d.now.Truncate(time.Second))}
	}
	return nil
}

// noteChange notes a change of the template. A hash that differs while the generation does
// not is that of an operator with other fields or defaults.
func (d *decision) noteChange() {
	s := &d.out.Status
	if !d.Spec.OnChange {
		s.Change = nil
		return
	}
	now := templateHash(d.LoadTestSchedule)
	switch {
	case s.Change == nil, s.Change.Hash != now && d.Generation != s.ObservedGeneration:
		s.Change = &v1beta1.TemplateChange{Hash: now, Generation: d.Generation}
	default:
		s.Change.Hash = now
	}
}

// start notes what is due and there, and starts the first that is not.
func (d *decision) start() {
	var next time.Time
	for _, due := range d.due() {
		if d.isThere(due.Name) {
			due.done(&d.out.Status)
			d.event("Started", "LoadTest %s was started: %s.", due.Name, due.Cause)
			continue
		}
		if d.out.Next == nil {
			d.out.Next, next = &Start{due.Name, due.Cause}, due.at
		}
	}
	switch {
	case d.held():
		d.out.Next = nil
	case d.out.Next != nil && d.may():
		d.out.Start, d.out.Next = d.out.Next, nil
	case d.out.Next != nil && d.replaces() && !next.IsZero():
		d.out.Status.LastScheduleTime = &metav1.Time{Time: next} // it was not late
	}
}

// held says whether nothing may start.
func (d *decision) held() bool { return d.Spec.Suspend || d.seen.Hold != nil }

// due are the LoadTests that have to be there now: of the rollout, of the change that was
// read back, and of the latest time.
func (d *decision) due() []due {
	list := d.dueByRollout()
	if c := d.Status.Change; d.Spec.OnChange && c != nil && c.Run == "" && c.Generation == d.out.Status.Change.Generation {
		name := nameOf(d.LoadTestSchedule, "change", c.Generation)
		list = append(list, due{
			Start: Start{name, fmt.Sprintf("the template of generation %d is new", c.Generation)},
			done:  func(s *v1beta1.LoadTestScheduleStatus) { s.Change.Run = name },
		})
	}
	if d.times != nil {
		list = append(list, d.dueByClock()...)
	}
	return list
}

// dueByRollout is that of the rollout that stands. Pods may be gone since it was started.
func (d *decision) dueByRollout() []due {
	r := d.seen.Rollout
	if d.Spec.OnRollout == nil || r == nil || d.hasNoted(r) {
		return nil
	}
	name := nameOf(d.LoadTestSchedule, "rollout", r.UID, r.Revision)
	if !r.Complete && !d.isThere(name) {
		return nil
	}
	return []due{{
		Start: Start{name, fmt.Sprintf("%s %s has rolled out revision %s", d.Spec.OnRollout.Kind, d.Spec.OnRollout.Name, r.Revision)},
		done: func(s *v1beta1.LoadTestScheduleStatus) {
			s.Rollout = &v1beta1.RolloutRun{UID: r.UID, Revision: r.Revision, Run: name}
		},
	}}
}

func (d *decision) hasNoted(r *Rollout) bool {
	noted := d.Status.Rollout
	return noted != nil && noted.UID == r.UID && noted.Revision == r.Revision
}

// dueByClock is the latest time, if it is not too late. The times before it are missed.
func (d *decision) dueByClock() []due {
	s := &d.out.Status
	since := s.Considered.Until.Time
	at := d.times.latest(since, d.now)
	if at.IsZero() {
		return nil
	}
	name := nameAt(d.LoadTestSchedule, at)
	if d.isLate(at) && !d.held() && !d.isThere(name) {
		d.miss(since, at)
		s.Considered.Until = metav1.NewTime(at)
		d.forget(at)
		return nil
	}
	if d.held() {
		d.forget(at)
	}
	return []due{{at: at,
		Start: Start{name, "its schedule has one at " + at.UTC().Format(time.RFC3339)},
		done: func(s *v1beta1.LoadTestScheduleStatus) {
			d.miss(since, at.Add(-time.Second))
			s.Considered.Until, s.LastScheduleTime = metav1.NewTime(at), &metav1.Time{Time: at}
		},
	}}
}

// isLate says whether it is too late to start the LoadTest of a time: not while others, in whose place it
// starts, go.
func (d *decision) isLate(at time.Time) bool {
	limit := d.Spec.StartingDeadlineSeconds
	return limit != nil && d.now.Sub(at) > time.Duration(*limit)*time.Second && !d.isReplacing(at)
}

// isReplacing says whether the LoadTest of a time, which is not there, replaces others: the status noted the
// time before they were deleted, which they are not while the API server refuses it.
func (d *decision) isReplacing(at time.Time) bool {
	return d.isNoted(at) && d.Spec.ConcurrencyPolicy == v1beta1.ReplaceConcurrent && d.seen.Refused == nil
}

func (d *decision) isNoted(at time.Time) bool {
	noted := d.Status.LastScheduleTime
	return noted != nil && noted.Time.Equal(at)
}

// forget takes back that the LoadTest of a time, which is not there, has started.
func (d *decision) forget(at time.Time) {
	if d.isNoted(at) {
		d.out.Status.LastScheduleTime = nil
	}
}

// replaces says whether other LoadTests have to go before the next.
func (d *decision) replaces() bool {
	return d.Spec.ConcurrencyPolicy == v1beta1.ReplaceConcurrent && len(d.active()) > 0
}

// miss counts times after since and not after until that have no LoadTest.
func (d *decision) miss(since, until time.Time) {
	isThere := func(at time.Time) bool { return d.isThere(nameAt(d.LoadTestSchedule, at)) }
	missed := len(slices.DeleteFunc(d.times.first(since, until), isThere))
	if missed == 0 {
		return
	}
	last := d.times.latest(since, until) // of more than are counted
	for isThere(last) {
		last = d.times.latest(since, last.Add(-time.Second))
	}
	d.out.Status.MissedRuns += int64(missed)
	d.out.Events = append(d.out.Events, Event{true, "Missed", fmt.Sprintf("Scheduled LoadTests missed: %d, the most recent at %s.",
		missed, last.UTC().Format(time.RFC3339))})
}

// isThere says whether there is a LoadTest of the schedule with that name.
func (d *decision) isThere(name string) bool {
	return d.seen.Created == name || slices.ContainsFunc(d.seen.Runs, func(r LoadTest) bool { return r.Name == name })
}

// may says whether another LoadTest may start now, and what has to go before.
func (d *decision) may() bool {
	if r := d.seen.Refused; r != nil && d.now.Before(r.Until) {
		d.wake(r.Until)
		return false
	}
	active := d.active()
	if d.Spec.ConcurrencyPolicy == v1beta1.AllowConcurrent && len(active) >= maxActive {
		d.full = &Problem{Reason: v1beta1.ReasonTooManyActive, Message: fmt.Sprintf("%d LoadTests of this schedule have not finished: no other starts until one of them has.", maxActive)}
		return false
	}
	if len(active) == 0 || d.Spec.ConcurrencyPolicy == v1beta1.AllowConcurrent {
		return true
	}
	if d.Spec.ConcurrencyPolicy == v1beta1.ReplaceConcurrent {
		d.replace(active)
	}
	return false
}

// replace deletes LoadTests, each once it has been there for as long as its name has to be
// taken.
func (d *decision) replace(active []LoadTest) {
	for _, r := range active {
		switch until := r.Created.Add(keptFor); {
		case r.Deleting:
		case d.now.Before(until):
			d.wake(until)
		default:
			d.out.Replaced = append(d.out.Replaced, r)
		}
	}
}

// active are the LoadTests that have not finished, the oldest first. One that was created
// a moment ago and is not among those that were read keeps others from starting as well.
func (d *decision) active() []LoadTest {
	var list []LoadTest
	known := d.seen.Created == ""
	for _, r := range d.seen.Runs {
		known = known || r.Name == d.seen.Created
		if !r.Finished {
			list = append(list, r)
		}
	}
	if !known {
		list = append(list, LoadTest{Name: d.seen.Created, Created: d.now})
	}
	slices.SortFunc(list, byCreation)
	return list
}

// wake asks for another decision at an instant.
func (d *decision) wake(at time.Time) { d.wakes = append(d.wakes, at) }

func (d *decision) event(reason, format string, args ...any) {
	d.out.Events = append(d.out.Events, Event{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// requeueAfter is the first of the instants at which something is to do.
func (d *decision) requeueAfter() time.Duration {
	if d.seen.Hold != nil && !d.seen.Hold.Until.IsZero() {
		d.wake(d.seen.Hold.Until)
	}
	if d.times != nil && !d.Spec.Suspend {
		d.wake(d.times.next(instant.Later(d.now, d.out.Status.Considered.Until.Time)))
		d.wake(d.now.Add(lookAgain))
	}
	if d.Spec.OnRollout != nil && !d.held() {
		d.wake(d.now.Add(rolloutEvery))
	}
	if len(d.wakes) == 0 {
		return 0
	}
	first := slices.MinFunc(d.wakes, time.Time.Compare)
	return max(first.Sub(d.now), time.Millisecond)
}

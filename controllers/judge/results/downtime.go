package results

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Downtime is for how long a target was down within the window of a step.
type Downtime struct {
	// Most is how long it was down if all of what the workers saw was its doing. Least
	// leaves out for how long a worker did not run, which looks the same from there, and
	// requests whose end is not known.
	Most, Least time.Duration
	// Window is what they are parts of.
	Window time.Duration
	// Silent says that most of it is time in which nothing at all was answered; otherwise,
	// a part of the requests waited.
	Silent bool
}

// percent is what certainly was downtime, rounded to hundredths.
func (d Downtime) percent() string {
	const whole = 10_000
	return text.Percent((int64(d.Least)*whole+int64(d.Window)/2)/int64(d.Window), whole)
}

// DowntimeOf is the downtime of a target in a step that has ended; ok is false if a worker
// did not report the course of the step, or none the time of its users. It is the longest of three times, each of which
// sees what the others do not:
//
//	gaps      requests were outstanding and nothing was answered
//	waiting   users waited in requests that failed or had no answer, in shares of their time
//	standing  a part of the requests waited together, and were answered much later
//
// Each is made so that slow requests, however rare and however slow, are no downtime as
// long as others are answered meanwhile.
func DowntimeOf(load *v1beta1.StepLoad, merged *measure.Measurement) (d Downtime, ok bool) {
	total, err := merged.Total()
	if err != nil || merged.Timeline == nil || merged.Window <= 0 || load.MostUsers() > 0 && merged.UserTime <= 0 {
		return Downtime{}, false
	}
	c := newCourse(load, merged, &total)
	if c.slots < fewestSlots {
		d = Downtime{Most: c.waiting(), Window: merged.Window}
		d.Least = max(0, d.Most-notRunning(&merged.Health))
		return d, true
	}
	gaps := c.gaps()
	certain := max(gaps, c.waiting(), c.standing(0))
	d = Downtime{Most: max(certain, c.standing(total.Undecided)), Window: merged.Window}
	d.Silent = 2*gaps > d.Most
	d.Least = max(0, certain-notRunning(&merged.Health))
	return d, true
}

// notRunning is for how long the worker that was held up longest did not run. Requests that
// came back meanwhile are in the course of the step when it ran again.
func notRunning(h *measure.Health) time.Duration {
	return max(h.StalledMax, h.CPUThrottledMax) + h.GCPauseMax
}

// fewestSlots is how many slots a burst, or a step that was cut, must have had for its course
// to say something.
const fewestSlots = 20

// course is the course of a step in slots of equal length.
type course struct {
	load   *v1beta1.StepLoad
	merged *measure.Measurement
	total  *measure.Request
	slot   time.Duration
	// slots is how many of them the window had, whole: a burst ends before its limit, and a
	// step that is cut before its end.
	slots int
	// high is how many answers come in each slot while the target does as well as it can
	// at that load.
	high []float64
}

func newCourse(load *v1beta1.StepLoad, merged *measure.Measurement, total *measure.Request) course {
	length := merged.Window
	switch {
	case load.IsBurst() && load.MaxDuration != nil:
		length = load.MaxDuration.Duration
	case load.Duration != nil:
		length = load.Duration.Duration
	}
	c := course{load: load, merged: merged, total: total, slot: length / measure.TimelineSlots, slots: measure.TimelineSlots}
	if c.slot > 0 {
		c.slots = min(c.slots, int(merged.Window/c.slot))
	}
	if c.slots >= fewestSlots {
		c.high = c.highest()
	}
	return c
}

// waiting is the users' share of time in requests that failed or had no answer, of the
// window. A failure that comes as fast as an answer is counted by failureRate, and not here.
func (c course) waiting() time.Duration {
	if c.merged.UserTime <= 0 {
		return 0
	}
	failed := c.total.Sent - c.total.Expected - c.total.Undecided
	fast := float64(failed) * float64(c.within(c.total.Service, 0.95, failed))
	return c.ofWindow((float64(c.merged.Waited) - fast) / float64(c.merged.UserTime))
}

// ofWindow is a share of the window.
func (c course) ofWindow(share float64) time.Duration {
	return time.Duration(min(1, max(0, share)) * float64(c.merged.Window))
}

// within is the time within which a share of the requests ended, without those that took
// longest: so many of them are suspected to have waited for the target to come back. It is
// 0 if none ended.
func (c course) within(h *measure.Histogram, share float64, longest int64) time.Duration {
	n := h.Count()
	if n == 0 {
		return 0
	}
	others := max(1, n-longest)
	if d, ok := h.Quantile(share * float64(others) / float64(n)); ok {
		return d
	}
	return h.Max()
}

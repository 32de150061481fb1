package verdict

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// downtime is the share of the window in which the target was certainly down. At its worst
// it was down, too, while a worker did not run, and for requests whose end is not known.
func (s sample) downtime() observation {
	d, ok := results.DowntimeOf(&s.step.Load, s.merged)
	if !ok {
		return unknown("%s cannot be judged: a worker did not report the timeline of the step.", s.place())
	}
	o := observation{value: metric.Percent(int64(d.Least), int64(d.Window)), worst: metric.Percent(int64(d.Most), int64(d.Window))}
	o.fact = fmt.Sprintf("For %s of %s in step %s, %s", text.Short(d.Least), text.Short(d.Window), s.step.Name, whatWasDown(d))
	o.caveat = fmt.Sprintf("The target was down for %s to %s of step %s: for a part of that time a worker did not run, or it is not known when requests ended.",
		text.Percent(int64(d.Least), int64(d.Window)), text.Percent(int64(d.Most), int64(d.Window)), s.step.Name)
	return o
}

func whatWasDown(d results.Downtime) string {
	if d.Silent {
		return "requests were outstanding and none was answered"
	}
	return "in total, some of the requests waited and were answered much later than the others, or never"
}

package reporttest

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// Archived are results of the steps of a LoadTest beyond their summary: what a step
// counted is spread over its seconds, with a slow one in the middle. Of a run of Faults they
// are exact.
func Archived(lt *v1beta1.LoadTest) []*archive.Step {
	var all []*archive.Step
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		if step.Result == nil {
			continue
		}
		n := int64(5)
		if d := step.Load.Duration; d != nil {
			n = min(600, max(1, int64((d.Duration+time.Second-1)/time.Second)))
		}
		all = append(all, &archive.Step{
			Format: archive.Format, LoadTest: lt.Name, UID: string(lt.UID), Name: step.Name, Index: i,
			WorkersReporting: step.WorkersReporting, Due: step.Result.Due, Sent: step.Result.Sent,
			Series: &archive.Series{Seconds: 1, Workers: int(step.WorkersReporting), Points: points(step.Result, n)},
		})
		if runs := simulated(lt.Name); runs != nil {
			archivedFault(all[len(all)-1], runs[i], step.Load.Duration.Seconds())
		}
	}
	return all
}

func points(r *v1beta1.StepResult, n int64) []archive.Point {
	list := make([]archive.Point, n)
	share := func(total, i int64) int64 { return total*(i+1)/n - total*i/n }
	for i := range list {
		p, at := &list[i], int64(i)
		*p = archive.Point{Due: share(r.Due, at), Sent: share(r.Sent, at), Completed: share(r.Completed, at), Expected: share(r.Expected, at)}
		p.Outcomes = map[string]int64{"success": p.Expected, "serverError": share(r.Failed, at)}
		if l := r.ResponseTime; l != nil && l.P50 != nil && l.P95 != nil && l.P99 != nil {
			slow := int64(1)
			if at == n/2 {
				slow = 2
			}
			p.P50, p.P95, p.P99 = ptr.To(slow*l.P50.Microseconds()), ptr.To(slow*l.P95.Microseconds()), ptr.To(slow*l.P99.Microseconds())
		}
	}
	return list
}

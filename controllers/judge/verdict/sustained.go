package verdict

import (
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// Sustained is the largest load of a step up to which every threshold was kept, and no
// outstanding requests piled up, in every repetition that ran.
type Sustained struct {
	// Users is the largest number of users; nil when there is none.
	Users *int32
	// Rate is the largest rate, in requests per second; empty when there is none.
	Rate string
}

// sustained goes up the rungs to the first that was not certainly kept.
//
// A rung is kept if every repetition that ran it kept its thresholds there, and did for
// certain not leave more and more requests outstanding. One
// that was stopped before it says nothing, neither for it nor against it: a breach
// ends the way up at its own rung, in whatever repetition it was, so that nothing
// counts beyond what it kept from being run. So a run that stops at its first breach
// says what it sustained until then, as it does without repetitions.
func (r run) sustained() Sustained {
	if r.status.Search != nil {
		return r.searched()
	}
	var largest Sustained
	for _, step := range r.ran() {
		kept, judged := r.keptAt(step.Rung)
		if !kept {
			break
		}
		if judged {
			largest.raise(&step.Load)
		}
	}
	return largest
}

// raise makes it a load that was sustained, if that is larger. A ramp has no one load.
func (s *Sustained) raise(l *v1beta1.StepLoad) {
	switch {
	case l.RampTo != nil:
	case l.Users > 0:
		s.Users = ptr.To(max(ptr.Deref(s.Users, l.Users), l.Users))
	case l.Rate != nil && less(s.Rate, l.Rate.String()):
		s.Rate = l.Rate.String()
	}
}

// less compares two rates, of which an empty one is 0.
func less(a, b string) bool {
	x, _ := plan.Micros(v1beta1.NewDecimal(a))
	y, _ := plan.Micros(v1beta1.NewDecimal(b))
	return x < y
}

// keptAt says whether a rung was kept in every repetition that ran it, and whether
// any threshold is about it: the load of a step that no threshold covers was not
// sustained. Where the spec has thresholds of its own, the defaults alone do not
// cover a step.
func (r run) keptAt(rung int32) (kept, judged bool) {
	for i, step := range r.ran() {
		if step.Rung != rung || step.Side == v1beta1.SideControl || step.Load.IsPause() {
			continue
		}
		if !r.isWhole(i) || grows(&step) || isUncertain(&step) || step.ThresholdState == v1beta1.ThresholdFailed || step.ThresholdState == v1beta1.ThresholdInconclusive {
			return false, false
		}
		repeatedly, about := r.keptRepeatedly(&step)
		if !repeatedly {
			return false, false
		}
		judged = about || step.ThresholdState == v1beta1.ThresholdPassed && (len(r.spec.Thresholds) == 0 || hasOwn(r.spec, r.status.Steps, &step))
	}
	return true, judged
}

// keptRepeatedly says whether the thresholds with inRepetitions were kept in enough
// repetitions of a step, and whether any is about it.
func (r run) keptRepeatedly(step *v1beta1.StepStatus) (kept, about bool) {
	for n := range r.spec.Thresholds {
		t := newTally(r.status.Steps, step, n, &r.spec.Thresholds[n])
		if about = about || t.isAbout(); t.isAbout() && t.state() != v1beta1.ThresholdPassed {
			return false, true
		}
	}
	return true, about
}

// isWhole says whether a step went to its end, with all workers and the planned load.
func (r run) isWhole(i int) bool {
	result := r.whole[i].Result
	return result != nil && rungs.IsSound(result)
}

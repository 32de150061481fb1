package plan

import (
	"net/url"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// inPairs are steps for both targets of a comparison: each that sends load becomes two of
// the same rung and repetition, one for either side, with a ladder's rest between. Which
// is first is drawn for each pair by itself: whatever makes the second of two steps slower
// or faster than the first is then noise, and no part of the difference.
func inPairs(lt *v1beta1.LoadTest, steps []v1beta1.StepStatus, control string) []v1beta1.StepStatus {
	taken, first := names{}, map[int32]string{}
	for i := range steps {
		taken[steps[i].Name] = true
	}
	rest, rests := restOf(lt.Spec.Ladder)
	var all []v1beta1.StepStatus
	pair := uint64(0)
	for _, s := range steps {
		if s.Load.IsPause() {
			all = append(all, s)
			continue
		}
		if first[s.Rung] == "" {
			first[s.Rung] = onControl(s.Name, control)
		}
		a, b := s, s
		a.Side = v1beta1.SideCandidate
		b.Side, b.Name = v1beta1.SideControl, taken.unique(first[s.Rung])
		if pair++; controlFirst(uint64(seed(lt)), pair) {
			a, b = b, a
		}
		all = append(all, a)
		if rests {
			rest.State, rest.Rung, rest.Repetition = v1beta1.StepPending, s.Rung, s.Repetition
			all = append(all, rest)
		}
		all = append(all, b)
	}
	return all
}

// controlFirst is a bit for each pair of a seed: that of the generator SplitMix64 (Steele,
// Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
func controlFirst(seed, pair uint64) bool {
	z := seed + pair*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z^z>>31)&1 == 1
}

// onControl is the name of the control's step that goes with one of the candidate.
func onControl(step, control string) string {
	suffix := []rune(" on " + control)
	runes := []rune(step)
	return string(runes[:min(len(runes), maxName-len(suffix))]) + string(suffix)
}

// versus is what the two targets of spec.versus are called; nil: there is one target.
func versus(lt *v1beta1.LoadTest) *v1beta1.VersusStatus {
	if lt.Spec.Versus == nil {
		return nil
	}
	s := &v1beta1.VersusStatus{Candidate: hostOf(&lt.Spec.Target), Control: lt.Spec.Versus.Target, TargetURL: TargetURLs(lt).Control}
	// The other target may have the name of the candidate's host.
	for _, name := range []string{"candidate", "target"} {
		if s.Candidate == s.Control {
			s.Candidate = name
		}
	}
	return s
}

// maxSideName leaves room for the names of steps beside it.
const maxSideName = 40

// hostOf is the name of a target's Service, or its host.
func hostOf(t *v1beta1.Target) string {
	name := ""
	if t.Service != nil {
		name = t.Service.Name
	} else if u, err := url.Parse(t.URL); err == nil {
		name = u.Host
	}
	runes := []rune(name)
	return string(runes[:min(len(runes), maxSideName)])
}

// checkVersus refuses what cannot be compared.
func checkVersus(spec *v1beta1.LoadTestSpec) *Refusal {
	v := spec.Versus
	switch {
	case v == nil:
		return nil
	case spec.Baseline != nil || spec.Search != nil || len(spec.Audits) > 0:
		return invalid("spec.versus: must not be set with baseline, search or audits.")
	}
	i := slices.IndexFunc(spec.OtherTargets, func(o v1beta1.OtherTarget) bool { return spec.IsControl(o.Name) })
	switch {
	case i < 0:
		return invalid("spec.versus.target: %q is not the name of one of spec.otherTargets%s.", v.Target, namesOf(spec.OtherTargets))
	case spec.OtherTargets[i].Timeout != nil:
		return invalid("%s.timeout: must not be set in the target that versus names: spec.target.timeout holds for both.", OtherTargetField(v.Target))
	}
	return nil
}

// control is what differs for the second target; nil: there is one target.
func control(lt *v1beta1.LoadTest) *workerv1.Control {
	c := lt.Spec.Control()
	if c == nil || lt.Status.Versus == nil {
		return nil
	}
	return &workerv1.Control{
		Target:    target(&lt.Spec, c, lt.Status.Versus.TargetURL, lt.Status.Internal.ControlAccess),
		Requests:  requests(&lt.Spec, c),
		Preflight: preflight(&lt.Spec, ControlPreflight(&lt.Spec), c),
	}
}

// ControlPreflight are the questions that are asked of the control; none without one.
func ControlPreflight(spec *v1beta1.LoadTestSpec) []v1beta1.Preflight {
	switch {
	case spec.Versus == nil:
		return nil
	case len(spec.Versus.Preflight) > 0:
		return spec.Versus.Preflight
	}
	return spec.Preflight
}

package verdict

import (
	"fmt"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/search"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Searched is where a search stands after its latest probe, the last step in status.
// next is the load of the next probe; 0: the search is over.
func Searched(spec *v1alpha1.LoadTestSpec, status *v1alpha1.LoadTestStatus) (s v1alpha1.SearchStatus, next int64) {
	run := run{spec: spec, status: status, whole: results.CompleteSteps(status), thresholds: status.Thresholds}
	probes := run.probes()
	found := plan.SearchRange(spec, status.Search).Next(probes)
	s = *status.Search
	s.State, s.Low, s.High = searchStates[found.State], "", ""
	if found.Low > 0 {
		s.Low = plan.LoadText(spec, found.Low)
	}
	if found.High > 0 {
		s.High = plan.LoadText(spec, found.High)
	}
	if len(probes) > 0 && probes[len(probes)-1].Outcome == search.Breached {
		s.Breach = run.firstBreach()
	}
	s.Message = text.Truncate(run.searchMessage(&s, found, probes), maxMessage)
	return s, found.Next
}

var searchStates = map[search.State]v1alpha1.SearchState{
	search.Searching:    v1alpha1.SearchSearching,
	search.Found:        v1alpha1.SearchFound,
	search.BeyondMax:    v1alpha1.SearchBeyondMax,
	search.BelowMin:     v1alpha1.SearchBelowMin,
	search.StillUnclear: v1alpha1.SearchGivenUp,
	search.Unsteady:     v1alpha1.SearchGivenUp,
	search.Exhausted:    v1alpha1.SearchGivenUp,
}

// probes are the steps of a search that are over, in their order. A load is kept by the
// same rule by which a step counts as sustained.
func (r run) probes() []search.Probe {
	var list []search.Probe
	for i, step := range r.ran() {
		if step.Load.IsPause() {
			continue
		}
		p := search.Probe{Load: plan.SearchLoad(&step.Load)}
		switch {
		case step.ThresholdState == v1alpha1.ThresholdFailed && step.State == v1alpha1.StepComplete:
			p.Outcome = search.Breached
		case step.ThresholdState == v1alpha1.ThresholdPassed && r.isWhole(i):
			p.Outcome = search.Kept
		}
		list = append(list, p)
	}
	return list
}

// searchMessage is the result of a search in a sentence or two; empty while it goes on.
func (r run) searchMessage(s *v1alpha1.SearchStatus, found search.Result, probes []search.Probe) string {
	between := "The limit is not known."
	switch {
	case s.Low != "" && s.High != "":
		between = fmt.Sprintf("Every threshold was kept up to %s, and one was breached from %s on.", r.load(s.Low), r.load(s.High))
	case s.Low != "":
		between = fmt.Sprintf("Every threshold was kept up to %s.", r.load(s.Low))
	}
	switch found.State {
	case search.Found:
		return joined(between, s.Breach)
	case search.BeyondMax:
		return fmt.Sprintf("Every threshold was kept up to %s, the max of the search: the limit is beyond it.", r.load(s.Low))
	case search.BelowMin:
		return joined(fmt.Sprintf("A threshold was breached at %s, the min of the search.", r.load(s.High)), s.Breach)
	case search.StillUnclear:
		load := r.load(plan.LoadText(r.spec, probes[len(probes)-1].Load))
		return joined(fmt.Sprintf("The search was given up at %s, which was tried again without a result.", load), r.doubt(), between)
	case search.Unsteady:
		return joined("The search was given up: the target breached a threshold at a load, and kept it at a higher one, time after time.", between)
	case search.Exhausted:
		return joined(fmt.Sprintf("The search was given up: %d probes did not find the limit to within %s.", s.MaxProbes, s.Precision), between)
	}
	return ""
}

// load is a load as a sentence has it.
func (r run) load(text string) string {
	if r.spec.Search.Users != nil {
		return text + " users"
	}
	return text + "/s"
}

// doubt is why the latest probe has no result.
func (r run) doubt() string {
	if g := r.generator(); g != nil && !g.Healthy {
		return g.Message
	}
	for _, t := range r.thresholds {
		if t.State == v1alpha1.ThresholdInconclusive {
			return t.Message
		}
	}
	return ""
}

// joined are sentences, without those that are empty.
func joined(sentences ...string) string {
	all := ""
	for _, s := range sentences {
		switch {
		case s == "":
		case all == "":
			all = s
		default:
			all += " " + s
		}
	}
	return all
}

// failedSearch is the sentence of a search whose least load breached a threshold. That
// any other probe does is the point of a search, and no failure.
func (r run) failedSearch() string {
	if r.status.Search.State == v1alpha1.SearchBelowMin {
		return r.status.Search.Message
	}
	return ""
}

// undecidedSearch is why a search has not found the limit.
func (r run) undecidedSearch() string {
	switch r.status.Search.State {
	case v1alpha1.SearchFound, v1alpha1.SearchBeyondMax:
		return ""
	case v1alpha1.SearchGivenUp:
		return r.status.Search.Message
	}
	return "The search ended before it had found the limit."
}

// searched is the largest load that a search found to be kept.
func (r run) searched() Sustained {
	low := r.status.Search.Low
	if r.spec.Search.Rate != nil {
		return Sustained{Rate: low}
	}
	if users, err := strconv.ParseInt(low, 10, 32); err == nil {
		return Sustained{Users: ptr.To(int32(users))}
	}
	return Sustained{}
}

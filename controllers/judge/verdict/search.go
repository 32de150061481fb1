package verdict

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/search"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Searched is where a search stands after its latest probe, the last step in status, and
// what comes next while it is Searching.
func Searched(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus) (s v1beta1.SearchStatus, found search.Result) {
	run := run{spec: spec, status: status, whole: results.CompleteSteps(status), thresholds: status.Thresholds}
	probes, within := run.probes(), plan.SearchRange(spec, status.Search)
	found = within.Next(probes)
	s = *status.Search
	s.State, s.Low, s.High = searchStates[found.State], "", ""
	if found.Low > 0 {
		s.Low = plan.LoadText(spec, found.Low)
	}
	if found.High > 0 {
		s.High = plan.LoadText(spec, found.High)
	}
	// What breached a load below one that was kept is a disturbance, or doubt, and limits no higher load.
	switch at := limited(within, probes); {
	case at < 0 || found.State == search.BeyondMax || probes[at].Load < found.High:
		s.Breach = ""
	case at == len(probes)-1:
		s.Breach = joined(run.firstBreach(), run.growth(&status.Steps[len(status.Steps)-1]))
	}
	s.Message = text.Truncate(run.searchMessage(&s, found, probes), maxMessage)
	return s, found
}

// limited is the latest probe that breached what was then the least load that is not kept, or a load above
// it; -1: there is none.
func limited(within search.Range, probes []search.Probe) int {
	for i := len(probes) - 1; i >= 0; i-- {
		if p := probes[i]; p.Outcome == search.Breached && p.Load >= within.Next(probes[:i+1]).High {
			return i
		}
	}
	return -1
}

var searchStates = map[search.State]v1beta1.SearchState{
	search.Searching:    v1beta1.SearchSearching,
	search.Found:        v1beta1.SearchFound,
	search.BeyondMax:    v1beta1.SearchBeyondMax,
	search.BelowMin:     v1beta1.SearchBelowMin,
	search.StillUnclear: v1beta1.SearchGivenUp,
	search.Unsteady:     v1beta1.SearchGivenUp,
	search.Exhausted:    v1beta1.SearchGivenUp,
}

// probes are the steps of a search that are over, in their order. A load is kept by the
// same rule by which a step counts as sustained: what grows is breached, as it is only a
// matter of time, and what may be the generator's growth is neither.
func (r run) probes() []search.Probe {
	var list []search.Probe
	for i, step := range r.ran() {
		if step.Load.IsPause() {
			continue
		}
		p := search.Probe{Load: plan.SearchLoad(&step.Load), Hold: step.Hold}
		switch {
		case step.ThresholdState == v1beta1.ThresholdFailed && step.State == v1beta1.StepComplete:
			p.Outcome = search.Breached
		case step.ThresholdState != v1beta1.ThresholdPassed || !r.isWhole(i) || isUncertain(&step):
			p.Outcome = search.Unclear
		case grows(&step):
			p.Outcome = search.Breached
		default:
			p.Outcome = search.Kept
		}
		list = append(list, p)
	}
	return list
}

// searchMessage is the result of a search in a sentence or two; empty while it goes on.
func (r run) searchMessage(s *v1beta1.SearchStatus, found search.Result, probes []search.Probe) string {
	breached := r.breached(s, "")
	switch found.State {
	case search.Found:
		return joined(fmt.Sprintf("Kept up to %s: %s", r.load(s.Low), r.held(s)), breached)
	case search.BeyondMax:
		return fmt.Sprintf("Kept up to %s, the max of the search: %s The limit is higher.", r.load(s.Low), r.held(s))
	case search.BelowMin:
		return joined(r.breached(s, ", the min of the search"), r.grewAtMin())
	case search.StillUnclear:
		return joined(fmt.Sprintf("The search ended without a result at %s.", r.tried(probes)), r.doubt(), r.probed(s, probes))
	case search.Unsteady:
		return joined("The search ended without a result: again and again, the target breached a threshold at one load and kept it at a higher one.", r.probed(s, probes))
	case search.Exhausted:
		if n := breachedHolds(probes); n > 0 {
			return joined(fmt.Sprintf("The search ended without a result: %d loads, each lower than the one before by the precision of %s, were not kept for %s.",
				n, s.Precision, text.Whole(s.Hold.Duration)), r.keptFor(s), breached)
		}
		return joined(fmt.Sprintf("The search ended without a result: %d probes did not find the limit to within %s.", s.MaxProbes, s.Precision), r.probed(s, probes))
	}
	return ""
}

// breachedHolds is how many loads were held, and not kept.
func breachedHolds(probes []search.Probe) (n int) {
	for _, p := range probes {
		if p.Hold && p.Outcome == search.Breached {
			n++
		}
	}
	return n
}

// tried is the load that was tried last, of several probes, and whether the one before was the same.
func (r run) tried(probes []search.Probe) string {
	last, tried := probes[len(probes)-1], "tried"
	if last.Hold {
		tried = "held"
	}
	if probes[len(probes)-2] == last {
		tried += " again"
	}
	return fmt.Sprintf("%s, which was %s", r.load(plan.LoadText(r.spec, last.Load)), tried)
}

// breached is at what load the search met its limit, and what limits it.
func (r run) breached(s *v1beta1.SearchStatus, which string) string {
	if s.Breach == "" {
		return fmt.Sprintf("Not kept at %s%s.", r.load(s.High), which)
	}
	return fmt.Sprintf("Not kept at %s%s: %s", r.load(s.High), which, s.Breach)
}

// probed is what is known after a search that was given up.
func (r run) probed(s *v1beta1.SearchStatus, probes []search.Probe) string {
	switch kept := r.keptFor(s); {
	case breachedHolds(probes) > 0:
		return joined(kept, fmt.Sprintf("Not kept for %s at %s.", text.Whole(s.Hold.Duration), r.load(s.High)))
	case kept != "" && s.High != "":
		return fmt.Sprintf("%s, and not kept at %s.", strings.TrimSuffix(kept, "."), r.load(s.High))
	case kept != "":
		return kept
	}
	return "The limit is unknown."
}

// keptFor is which load the probes kept, below all that was breached, and for how long; empty:
// none. A hold that is kept ends the search, and finds the limit.
func (r run) keptFor(s *v1beta1.SearchStatus) string {
	if s.Low == "" {
		return ""
	}
	return fmt.Sprintf("Kept for %s at %s.", text.Whole(r.spec.Search.Duration.Duration), r.load(s.Low))
}

// held is for how long the load that was found was kept, and what was outstanding then.
func (r run) held(s *v1beta1.SearchStatus) string {
	last := &r.status.Steps[len(r.status.Steps)-1]
	if !last.Hold {
		return fmt.Sprintf("for %s, the time of a probe, and not held for longer (spec.search.hold is 0s).", text.Whole(r.spec.Search.Duration.Duration))
	}
	said := "held for " + text.Whole(s.Hold.Duration)
	switch o := last.Result.Outstanding; {
	case last.Load.Rate == nil && last.Load.RatePerUser == nil:
		return said + ". These users wait for each response, so nothing piles up: with more users, responses become slower."
	case o == nil || o.Trend != v1beta1.OutstandingSteady:
		return said + "."
	default:
		return fmt.Sprintf("%s, outstanding requests steady at %s.", said, text.Decimal(o.Mean))
	}
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
	uncertain := ""
	if last := &r.status.Steps[len(r.status.Steps)-1]; isUncertain(last) {
		uncertain = r.growth(last)
	}
	if g := r.generator(); g != nil && !g.Healthy {
		return joined(uncertain, g.Message)
	}
	for _, t := range r.thresholds {
		if t.State == v1beta1.ThresholdInconclusive {
			return t.Message
		}
	}
	return uncertain
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

// grewAtMin says that min breached no threshold the second time, and was not kept since outstanding
// requests grew; empty: it did. That alone fails no run.
func (r run) grewAtMin() string {
	if r.firstBreach() != "" {
		return ""
	}
	return "Every threshold was kept meanwhile; a threshold on drift would make this growth a breach."
}

// failedSearch is the sentence of a search whose least load breached a threshold. That
// any other probe does is the point of a search, and no failure.
func (r run) failedSearch() string {
	if r.status.Search.State == v1beta1.SearchBelowMin && r.grewAtMin() == "" {
		return r.status.Search.Message
	}
	return ""
}

// undecidedSearch is why a search has not found the limit.
func (r run) undecidedSearch() string {
	switch r.status.Search.State {
	case v1beta1.SearchFound, v1beta1.SearchBeyondMax:
		return ""
	case v1beta1.SearchGivenUp, v1beta1.SearchBelowMin:
		return r.status.Search.Message
	}
	return "The search ended before it found the limit."
}

// searched is the largest load that a search found to be kept, and held if it holds. A load
// that was kept by the probes of a search that found nothing is not certain.
func (r run) searched() Sustained {
	s := r.status.Search
	if s.State != v1beta1.SearchFound && s.State != v1beta1.SearchBeyondMax {
		return Sustained{}
	}
	low := s.Low
	if r.spec.Search.Rate != nil {
		return Sustained{Rate: low}
	}
	if users, err := strconv.ParseInt(low, 10, 32); err == nil {
		return Sustained{Users: ptr.To(int32(users))}
	}
	return Sustained{}
}

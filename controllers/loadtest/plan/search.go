package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/search"
)

const (
	// defaultRest is the pause between two probes of a search: the queues of a target
	// that had too much load are empty soon after its timeouts, and what it still does
	// for requests that were given up is done in seconds.
	defaultRest = 5 * time.Second
	// leastHold and probesHeld are for how long a search holds what it found: a minute, and
	// ten times as long as a probe. At 3 % above what a target can take, what piles up in a
	// minute is two seconds of waiting.
	leastHold, probesHeld = time.Minute, 10
	// defaultPrecision is that of a search.
	defaultPrecision = "5%"
)

// newSearch is how a search is carried out; nil: there is none.
func newSearch(spec *v1beta1.LoadTestSpec) *v1beta1.SearchStatus {
	s := spec.Search
	if s == nil {
		return nil
	}
	rest := s.Rest
	if rest == nil {
		rest = &metav1.Duration{Duration: defaultRest}
	}
	return &v1beta1.SearchStatus{
		Rest: positive(rest), Hold: positive(holdOf(s)), Precision: cmp.Or(s.Precision, defaultPrecision),
		MaxProbes: search.MaxProbes, State: v1beta1.SearchSearching,
	}
}

// holdOf is how long a search holds the load that it found; 0: it does not.
func holdOf(s *v1beta1.Search) *metav1.Duration {
	if s.Hold != nil {
		return s.Hold
	}
	return &metav1.Duration{Duration: max(leastHold, probesHeld*s.Duration.Duration)}
}

// SearchRange is what is searched, by the spec and by the plan in status.
func SearchRange(spec *v1beta1.LoadTestSpec, status *v1beta1.SearchStatus) search.Range {
	low, high := searchBounds(spec.Search)
	percent, _ := strconv.ParseFloat(strings.TrimSuffix(status.Precision, "%"), 64) // checked when the run was planned
	r := search.Range{Min: low, Max: high, Precision: percent / 100, MaxProbes: int(status.MaxProbes)}
	if status.Hold != nil {
		r.Holds = search.MaxHolds
	}
	return r
}

// searchBounds are the least and the greatest load, in users or in millionths of a
// request per second.
func searchBounds(s *v1beta1.Search) (low, high int64) {
	if s.Users != nil {
		return int64(s.Users.Min), int64(s.Users.Max)
	}
	if s.Rate != nil {
		return micros(&s.Rate.Min), micros(&s.Rate.Max)
	}
	return 0, 0
}

// SearchLoad is the load of a probe, in the same units.
func SearchLoad(l *v1beta1.StepLoad) int64 {
	if l.Rate != nil {
		return micros(l.Rate)
	}
	return int64(l.Users)
}

// probeOf is a step of a search, without a place among the others.
func probeOf(s *v1beta1.Search, load int64) v1beta1.StepStatus {
	step := v1beta1.Step{RatePerUser: s.RatePerUser, Think: s.Think, WarmUp: s.WarmUp, Duration: &s.Duration}
	if s.Users != nil {
		step.Users, step.Name = ptr.To(int32(load)), fmt.Sprintf("%d users", load)
	} else {
		step.Rate = decimalOf(load)
		step.Name = step.Rate.String() + "/s"
	}
	return v1beta1.StepStatus{Name: step.Name, Load: explicitLoad(&step, 0)}
}

// largestProbe is the probe of the greatest load.
func largestProbe(s *v1beta1.Search) v1beta1.StepStatus {
	_, high := searchBounds(s)
	return probeOf(s, high)
}

// Probe are the steps that follow those in status when a search goes on with a load: the
// rest, if there is one, and a probe that takes as long as the first one may.
func Probe(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, load int64) []v1beta1.StepStatus {
	return appended(status, probeOf(spec.Search, load), 0)
}

// Hold are the steps that follow those in status when a search holds a load: the rest, if
// there is one, and the load for the time of the hold.
func Hold(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, load int64) []v1beta1.StepStatus {
	longer := *spec.Search
	longer.Duration = *status.Search.Hold
	step := probeOf(&longer, load)
	step.Name, step.Hold = "hold "+step.Name, true
	return appended(status, step, longer.Duration.Duration-spec.Search.Duration.Duration)
}

// appended is a step of a search, after the rest if there is one, at the end of those in
// status. It may take as much longer than the first one.
func appended(status *v1beta1.LoadTestStatus, step v1beta1.StepStatus, longer time.Duration) []v1beta1.StepStatus {
	taken, steps := names{}, []v1beta1.StepStatus{}
	for i := range status.Steps {
		taken[status.Steps[i].Name] = true
	}
	if rest := status.Search.Rest; rest != nil {
		steps = append(steps, v1beta1.StepStatus{Name: "rest", Load: v1beta1.StepLoad{Pause: rest}})
	}
	step.Name = taken.unique(step.Name)
	step.TimeLimit = &metav1.Duration{Duration: v1beta1.OrZero(status.Steps[0].TimeLimit) + longer}
	steps = append(steps, step)
	for i := range steps {
		steps[i].State, steps[i].Rung = v1beta1.StepPending, int32(len(status.Steps)+i)+1
	}
	return steps
}

// Foreseen are the steps in status, and all that a search may append to them.
func Foreseen(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus) []v1beta1.StepStatus {
	if spec.Search == nil || status.Search == nil || len(status.Steps) == 0 {
		return status.Steps
	}
	all := v1beta1.LoadTestStatus{Steps: append([]v1beta1.StepStatus(nil), status.Steps...), Search: status.Search}
	_, largest := searchBounds(spec.Search)
	probes, holds := loads(all.Steps)
	for holds == 0 && probes < int(status.Search.MaxProbes) {
		all.Steps = append(all.Steps, Probe(spec, &all, largest)...)
		probes++
	}
	for status.Search.Hold != nil && holds < search.MaxHolds {
		all.Steps = append(all.Steps, Hold(spec, &all, largest)...)
		holds++
	}
	return all.Steps
}

// loads is how many steps are probes, and how many are holds.
func loads(steps []v1beta1.StepStatus) (probes, holds int) {
	for i := range steps {
		switch {
		case steps[i].Hold:
			holds++
		case !steps[i].Load.IsPause():
			probes++
		}
	}
	return probes, holds
}

// decimalOf is a rate of so many millionths.
func decimalOf(micros int64) *v1beta1.Decimal {
	text := fmt.Sprintf("%d.%06d", micros/micro, micros%micro)
	return ptr.To(v1beta1.NewDecimal(strings.TrimSuffix(strings.TrimRight(text, "0"), ".")))
}

// LoadText is a load of a search as status has it: a number of users, or a rate.
func LoadText(spec *v1beta1.LoadTestSpec, load int64) string {
	if spec.Search.Users != nil {
		return strconv.FormatInt(load, 10)
	}
	return decimalOf(load).String()
}

// checkSearch refuses a range that is none.
func checkSearch(spec *v1beta1.LoadTestSpec) *Refusal {
	s := spec.Search
	if s == nil {
		return nil
	}
	field := "rate"
	if s.Users != nil {
		field = "users"
	}
	low, high := searchBounds(s)
	switch {
	case spec.Ladder != nil || len(spec.Steps) > 0 || Repetitions(spec) > 1 || s.Users != nil && s.Rate != nil:
		return invalid("spec.search: must not be set with ladder, steps or repetitions, and must have one of users and rate.")
	case low < 1 || low >= high:
		return invalid("spec.search.%s: min must be greater than 0 and less than max.", field)
	case s.Hold != nil && s.Hold.Duration != 0 && s.Hold.Duration < s.Duration.Duration:
		return invalid("spec.search.hold: must be 0s, or at least duration.")
	}
	if refusal := checkProbes(spec); refusal != nil {
		return refusal
	}
	return checkPrecision(s)
}

// checkProbes refuses what does not hold for every probe alike.
func checkProbes(spec *v1beta1.LoadTestSpec) *Refusal {
	if spec.Worker != nil && spec.Worker.OnLoss == v1beta1.LossContinue {
		return invalid("spec.worker.onLoss: must not be Continue with search, which needs all of the load that it asks for.")
	}
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		for _, field := range []struct {
			name  string
			isSet bool
		}{
			{"onBreach", t.OnBreach != "" && t.OnBreach != v1beta1.BreachContinue},
			{"upToUsers", t.UpToUsers != nil},
			{"steps", t.Steps != nil},
			{"inRepetitions", t.InRepetitions != nil},
			{"maxIncrease", t.MaxIncrease != ""},
			{"maxDecrease", t.MaxDecrease != ""},
		} {
			if field.isSet {
				return invalid("spec.thresholds: %s of %s must not be set with search, whose thresholds hold for every probe; "+
					"remove it or, with spec.loads, set loads of the threshold to those without a search.", field.name, cmp.Or(t.Name, string(t.Metric)))
			}
		}
	}
	return nil
}

func checkPrecision(s *v1beta1.Search) *Refusal {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(cmp.Or(s.Precision, defaultPrecision), "%"), 64)
	if err != nil || percent < 1 || percent > 50 {
		return invalid("spec.search.precision: must be a percentage from 1%% to 50%%, such as 5%%.")
	}
	return nil
}

package report

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Fact is a line at the head of a report.
type Fact struct{ Name, Text string }

// Facts are what a run was about, before what it measured. An operator that does not
// ask which target it is says nothing of it.
func Facts(lt *v1beta1.LoadTest) []Fact {
	s := &lt.Status
	list := []Fact{{"Target", Target(&lt.Spec.Target)}}
	for _, other := range lt.Spec.RequestTargets() {
		list = append(list, Fact{"Other target", other.Name + ", " + Target(other.Target())})
	}
	if c := lt.Spec.Control(); c != nil {
		list = append(list, Fact{"Compared with", lt.Spec.Versus.Target + ", " + Target(c)})
	}
	if c := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionTargetVerified); c != nil {
		name := "Target not verified"
		if c.Status == metav1.ConditionTrue {
			name = "Target verified"
		}
		list = append(list, Fact{name, c.Message})
	}
	if d := descriptors(s); d != "" {
		list = append(list, Fact{"Descriptors", d})
	}
	if s.StartTime != nil {
		started := s.StartTime.UTC().Format("2006-01-02 15:04:05 UTC")
		if s.CompletionTime != nil {
			started += ", took " + length(s.CompletionTime.Sub(s.StartTime.Time))
		}
		list = append(list, Fact{"Started", started})
	}
	if s.Workers.Desired > 0 {
		list = append(list, Fact{"Workers", workers(s.Workers)})
	}
	if s.MaxSustainedUsers != nil {
		list = append(list, Fact{Kept, fmt.Sprintf("every threshold up to %d users%s", *s.MaxSustainedUsers, forTime(KeptFor(s)))})
	}
	if s.MaxSustainedRate != "" {
		list = append(list, Fact{Kept, fmt.Sprintf("every threshold up to %s %s per second%s", s.MaxSustainedRate, arriving(s), forTime(KeptFor(s)))})
	}
	if s.Why != "" {
		list = append(list, Fact{"Why", s.Why})
	}
	return list
}

// OfSessions says whether the rates of a run are of sessions, not of requests.
func OfSessions(s *v1beta1.LoadTestStatus) bool {
	return slices.ContainsFunc(s.Steps, func(step v1beta1.StepStatus) bool { return step.Load.Sessions != nil })
}

// arriving is what arrives at the rates of a run.
func arriving(s *v1beta1.LoadTestStatus) string {
	if OfSessions(s) {
		return "sessions"
	}
	return "requests"
}

// Kept is the name of the fact that says up to what load the thresholds were kept.
const Kept = "Kept"

// KeptFor is for how long the highest load was sent that was kept: a load may be more than
// the target can take, and kept for a while. 0: it is not known.
func KeptFor(s *v1beta1.LoadTestStatus) time.Duration {
	var longest time.Duration
	for i := range s.Steps {
		if d := s.Steps[i].Load.Duration; d != nil && KeptHighest(s, &s.Steps[i]) {
			longest = max(longest, d.Duration)
		}
	}
	return longest
}

// KeptHighest says whether a step sent the highest load that was kept, and kept it. Another
// step of the same load may not have: it was longer, or another repetition.
func KeptHighest(s *v1beta1.LoadTestStatus, step *v1beta1.StepStatus) bool {
	l := &step.Load
	users := s.MaxSustainedUsers != nil && l.Users == *s.MaxSustainedUsers
	rate := s.MaxSustainedRate != "" && l.Rate != nil && Number(l.Rate.String()) == Number(s.MaxSustainedRate)
	return (users || rate) && l.RampTo == nil && step.Side != v1beta1.SideControl && isKept(step)
}

// Telling is the step that says most of a run: the highest one that was sustained or, where
// none was, the last one that was measured; nil: none was.
func Telling(s *v1beta1.LoadTestStatus) *v1beta1.StepStatus {
	var last, sustained *v1beta1.StepStatus
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Result == nil || step.Side == v1beta1.SideControl {
			continue
		}
		last = step
		if KeptHighest(s, step) {
			sustained = step
		}
	}
	if sustained != nil {
		return sustained
	}
	return last
}

// isKept says whether a step was carried out whole, kept its thresholds, and did not leave
// more and more requests outstanding, for certain.
func isKept(step *v1beta1.StepStatus) bool {
	grows := step.Result != nil && (step.Result.Outstanding.Grows() || step.Result.Outstanding.IsUncertain())
	return step.State == v1beta1.StepComplete && ThresholdState(step) == v1beta1.ThresholdPassed && !grows
}

// length is how long a run took. Its status has whole seconds, so that none says nothing of microseconds.
func length(d time.Duration) string {
	if d < time.Second {
		return "less than a second"
	}
	return text.Short(d)
}

// forTime is a time in a sentence; empty: none.
func forTime(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return ", for " + text.Whole(d)
}

// descriptors are the digests of those by which calls were encoded: of each target that has
// any, if they differ.
func descriptors(s *v1beta1.LoadTestStatus) string {
	v := s.Versus
	switch {
	case v == nil || v.Descriptors == s.Descriptors:
		return s.Descriptors
	case v.Descriptors == "":
		return s.Descriptors + " of " + v.Candidate
	case s.Descriptors == "":
		return v.Descriptors + " of " + v.Control
	}
	return fmt.Sprintf("%s of %s, %s of %s", s.Descriptors, v.Candidate, v.Descriptors, v.Control)
}

package preview

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Preview is what a LoadTest will do.
type Preview struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Target is what the load goes to.
	Target string `json:"target"`
	// OtherTargets are what the requests go to that name one, each after its name.
	OtherTargets []string `json:"otherTargets,omitempty"`
	// Streams are the requests whose responses are read as streams, each with what its events are.
	Streams []string `json:"streams,omitempty"`
	// Policy is what the operator's policy says of the target and of the size of the run: ""
	// if it allows both.
	Policy string `json:"policy,omitempty"`
	// Refused are the same sentences, each of another part of the policy.
	Refused []string `json:"-"`
	// Workers share the load. Computed says that spec.parallelism is absent.
	Workers  int32 `json:"workers"`
	Computed bool  `json:"workersComputed"`
	// Requests is how many are due in all steps together. AtMost says that it may be
	// fewer, MoreAsAnswered that users without a rate, or sessions, send more, as replies come.
	Requests       int64 `json:"requests"`
	AtMost         bool  `json:"requestsAtMost,omitempty"`
	MoreAsAnswered bool  `json:"requestsAsAnswered,omitempty"`
	// ByLog says that a log has the requests, which the workers alone read.
	ByLog bool `json:"requestsByLog,omitempty"`
	// Sessions is how many a rate begins in all steps together, of journeys and of single requests.
	// SessionsAtMost says that it may be fewer.
	Sessions       int64 `json:"sessions,omitempty"`
	SessionsAtMost bool  `json:"sessionsAtMost,omitempty"`
	// Duration is what the steps take as planned, and Limit what they take at most.
	Duration metav1.Duration `json:"duration"`
	Limit    metav1.Duration `json:"limit"`
	// Before and After are what happens around the steps.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
	Steps  []Step   `json:"steps"`
	// Loads are those that are sent side by side, in place of steps; Begins says when each does.
	Loads  []*Preview `json:"loads,omitempty"`
	Begins string     `json:"begins,omitempty"`
	// Further says how a search goes on from its first probe.
	Further    string      `json:"further,omitempty"`
	Thresholds []Threshold `json:"thresholds,omitempty"`
	// Notes are what a reader should know before it runs.
	Notes []string `json:"notes,omitempty"`
}

// Step is a step as it is planned.
type Step struct {
	Name string `json:"name"`
	// Begins is when, counted from the first step, as planned.
	Begins     metav1.Duration  `json:"begins"`
	Repetition int32            `json:"repetition,omitempty"`
	Load       v1beta1.StepLoad `json:"load"`
	// Requests is how many are due; absent where that is not known beforehand.
	Requests *int64 `json:"requests,omitempty"`
	// AtMost says that requests are drawn, and no more than that many.
	AtMost    bool             `json:"requestsAtMost,omitempty"`
	TimeLimit *metav1.Duration `json:"timeLimit,omitempty"`
	title     string
}

// Refusal is why the operator would not carry a LoadTest out.
type Refusal struct{ Reason, Message string }

// Error is the message.
func (r Refusal) Error() string { return r.Message }

// byPolicy are the reasons of refusals that are the administrator's.
var byPolicy = []string{v1beta1.ReasonTargetNotAllowed, v1beta1.ReasonLimitExceeded, v1beta1.ReasonWorkerNotAllowed, v1beta1.ReasonQueryNotAllowed}

// everything is the policy of an administrator who allows it.
var everything = policy.Everything()

// New previews a LoadTest, which has been admitted, under the policy of an operator, as if
// nothing held runs. release is the image of its release's workers, which is always
// allowed; empty: it is not known. now is the present. The error is a Refusal of what no
// policy would allow.
func New(lt *v1beta1.LoadTest, allowed *Policy, release string, now time.Time) (*Preview, error) {
	judged := lt.DeepCopy()
	judged.Namespace = cmp.Or(lt.Namespace, metav1.NamespaceDefault) // as kubectl creates it
	rules := allowed.For(judged.Namespace).Free()
	rules.Workers.Release = release
	status, refused, err := acceptedBeside(judged, rules, now)
	if err != nil {
		return nil, err
	}
	p := &Preview{
		Namespace: lt.Namespace, Name: lt.Name, Target: report.Target(&lt.Spec.Target),
		Policy: strings.Join(refused, " "), Refused: refused,
		Workers: status.Workers.Desired, Computed: lt.Spec.Parallelism == nil,
		Streams: streams(&lt.Spec), Before: before(&lt.Spec), After: after(&lt.Spec),
		Thresholds: thresholds(&lt.Spec, status.Thresholds),
	}
	for i := range lt.Spec.OtherTargets {
		other := &lt.Spec.OtherTargets[i]
		p.OtherTargets = append(p.OtherTargets, other.Name+", "+report.Target(other.Target()))
	}
	if err := p.addLoads(judged, allowed, release, now); err != nil {
		return nil, err
	}
	p.addSteps(status.Steps)
	p.foresee(lt, status)
	p.Notes = notes(lt, p)
	return p, nil
}

// acceptedBeside is the status of a LoadTest, and what the policy refuses of it: all that it does, and not
// the first part alone.
func acceptedBeside(lt *v1beta1.LoadTest, rules policy.Rules, now time.Time) (status *v1beta1.LoadTestStatus, refused []string, err error) {
	for range len(byPolicy) {
		status, err = accepted(lt, rules, now)
		var refusal Refusal
		if !errors.As(err, &refusal) || !slices.Contains(byPolicy, refusal.Reason) {
			return status, refused, err
		}
		refused = append(refused, refusal.Message)
		switch refusal.Reason {
		case v1beta1.ReasonTargetNotAllowed:
			rules.Targets = everything.Targets
		case v1beta1.ReasonWorkerNotAllowed:
			rules.Workers = everything.Workers
		case v1beta1.ReasonQueryNotAllowed:
			rules.Queries = everything.Queries
		default:
			rules.Limits = everything.Limits
		}
	}
	status, err = accepted(lt, rules, now)
	return status, refused, err
}

// accepted is the status that the operator's first pass writes for a LoadTest that it
// takes up at once.
func accepted(lt *v1beta1.LoadTest, rules policy.Rules, now time.Time) (*v1beta1.LoadTestStatus, error) {
	begun := lt.DeepCopy()
	begun.Spec.Suspend, begun.Spec.Terminate = false, false
	begun.Status = v1beta1.LoadTestStatus{}
	decision := lifecycle.Decide(begun, rules, lifecycle.Observed{}, now)
	c := meta.FindStatusCondition(decision.Status.Conditions, v1beta1.ConditionAccepted)
	switch {
	case c == nil:
		return nil, fmt.Errorf("LoadTest %s was neither accepted nor refused", lt.Name)
	case c.Status != metav1.ConditionTrue:
		return nil, Refusal{Reason: c.Reason, Message: c.Message}
	}
	return &decision.Status, nil
}

// addLoads adds the loads that are sent side by side. The run is as long as the longest chain of them,
// but for those in the background.
func (p *Preview) addLoads(lt *v1beta1.LoadTest, allowed *Policy, release string, now time.Time) error {
	ends := map[string][2]time.Duration{}
	for i, one := range plan.Loads(lt) {
		l := &lt.Spec.Loads[i]
		load, err := New(one, allowed, release, now)
		if err != nil {
			return err
		}
		load.Name, load.Namespace, load.Begins = l.Name, "", begins(l)
		p.Loads = append(p.Loads, load)
		p.Requests += load.Requests
		p.AtMost, p.MoreAsAnswered = p.AtMost || load.AtMost || l.Background, p.MoreAsAnswered || load.MoreAsAnswered
		p.Sessions += load.Sessions
		p.SessionsAtMost = p.SessionsAtMost || load.SessionsAtMost
		before, delay := ends[l.After], v1beta1.OrZero(l.Delay)
		ends[l.Name] = [2]time.Duration{before[0] + delay + load.Duration.Duration, before[1] + delay + load.Limit.Duration}
		if !l.Background {
			p.Duration.Duration, p.Limit.Duration = max(p.Duration.Duration, ends[l.Name][0]), max(p.Limit.Duration, ends[l.Name][1])
		}
	}
	return nil
}

// begins says when a load does.
func begins(l *v1beta1.Load) string {
	text := "with the run"
	if l.After != "" {
		text = "at the end of " + l.After
	}
	if d := v1beta1.OrZero(l.Delay); d > 0 {
		text = fmt.Sprintf("%s after %s", d, map[bool]string{true: "the begin of the run", false: "the end of " + l.After}[l.After == ""])
	}
	if l.Background {
		text += ", and ends with the other loads"
	}
	return text
}

// addSteps adds the steps of the status, and up what they come to.
func (p *Preview) addSteps(steps []v1beta1.StepStatus) {
	for i := range steps {
		s := &steps[i]
		step := Step{Name: s.Name, Begins: p.Duration, Repetition: s.Repetition, Load: s.Load, TimeLimit: s.TimeLimit, title: report.Title(s)}
		p.count(&step)
		p.Steps = append(p.Steps, step)
		p.Duration.Duration += length(&s.Load)
		p.Limit.Duration += longest(s)
	}
}

// count notes how many requests are due in a step.
func (p *Preview) count(step *Step) {
	if step.Load.IsPause() {
		return
	}
	if planned := step.Load.Sessions; planned != nil {
		p.Sessions += plan.MostSessions(&step.Load)
		p.SessionsAtMost = p.SessionsAtMost || *planned == 0
	}
	if step.Load.IsReplay() {
		p.ByLog = true
		return
	}
	n, known := plan.MostRequests(&step.Load)
	if !known {
		p.MoreAsAnswered = true
		return
	}
	step.Requests, step.AtMost = &n, step.Load.Requests == 0
	p.Requests += n
	p.AtMost = p.AtMost || step.AtMost
}

// foresee adds what a search may append to its first probe.
func (p *Preview) foresee(lt *v1beta1.LoadTest, status *v1beta1.LoadTestStatus) {
	s := status.Search
	if s == nil {
		return
	}
	all := plan.Foreseen(&lt.Spec, status)
	further := &Preview{}
	further.addSteps(all)
	p.Further = fmt.Sprintf("Then the load is raised until a threshold is breached, and the interval divided to a precision of %s: at most %d probes.", s.Precision, s.MaxProbes)
	if s.Hold != nil {
		p.Further += fmt.Sprintf(" The load that is found is held for %s; if that breaches a threshold, the load is lowered by %s and held again.", Time(s.Hold.Duration), s.Precision)
	}
	p.Requests, p.AtMost = further.Requests, true
	p.Duration, p.Limit = further.Duration, further.Limit
}

// length is how long a step takes as planned; of a burst, which ends with its last
// response, nothing is planned.
func length(l *v1beta1.StepLoad) time.Duration {
	return v1beta1.OrZero(l.WarmUp) + v1beta1.OrZero(l.Duration) + v1beta1.OrZero(l.Pause)
}

// longest is how long a step takes at most.
func longest(s *v1beta1.StepStatus) time.Duration {
	return v1beta1.OrZero(s.Load.Pause) + v1beta1.OrZero(s.TimeLimit)
}

// Policy is what an administrator allows.
type Policy = policy.Policy

// LoadPolicy reads an operator's configuration; nil: it has none.
func LoadPolicy(document []byte) (*Policy, error) { return policy.Load(document) }

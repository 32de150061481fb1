package overview

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
)

// Row is a LoadTest in a list.
type Row struct {
	Namespace, Name      string
	Phase, Step, Workers string
	Goodput, P95, Errors string
	Verdict, Target      string
	Created              time.Time
	// Attention is what a person should know of it, in a sentence; "" if there is nothing.
	Attention string
	// LoadTest is the whole of it; nil where a row is enough.
	LoadTest *v1beta1.LoadTest

	urgency urgency
}

// urgency is the place of a LoadTest in the list.
type urgency int

const (
	alarming urgency = iota // it runs, or waits to run, and something is the matter
	failedToRun
	failed
	inconclusive
	held
	live
	canceled
	passed
)

// New is the row of a LoadTest.
func New(lt *v1beta1.LoadTest) Row {
	s := &lt.Status
	r := Row{
		Namespace: lt.Namespace, Name: lt.Name, Phase: string(cmp.Or(s.Phase, v1beta1.PhasePending)),
		Step: s.Summary.Step, Workers: s.Summary.Workers, Goodput: s.Summary.Goodput, P95: s.Summary.P95, Errors: s.Summary.Errors,
		Verdict: string(s.Verdict), Target: report.Target(&lt.Spec.Target), Created: lt.CreationTimestamp.Time,
	}
	r.urgency, r.Attention = assess(lt)
	return r
}

// assess says how urgent a LoadTest is, and why.
func assess(lt *v1beta1.LoadTest) (urgency, string) {
	s := &lt.Status
	switch s.Verdict {
	case v1beta1.VerdictError:
		return failedToRun, report.Judgement(s)
	case v1beta1.VerdictFailed:
		return failed, report.Judgement(s)
	case v1beta1.VerdictInconclusive:
		return inconclusive, report.Judgement(s)
	case v1beta1.VerdictCanceled:
		return canceled, ""
	case v1beta1.VerdictPassed:
		return passed, ""
	}
	if lt.Spec.Suspend {
		return held, progress.Waiting(lt)
	}
	for _, kind := range watched {
		c := meta.FindStatusCondition(s.Conditions, kind)
		if c != nil && c.Status == metav1.ConditionFalse && !slices.Contains(usual, c.Reason) {
			return alarming, c.Message
		}
	}
	return live, progress.Waiting(lt)
}

// watched are the conditions that are not False while a run is well.
var watched = []string{v1beta1.ConditionThresholdsMet, v1beta1.ConditionWorkersReady, v1beta1.ConditionGeneratorHealthy}

// usual are reasons for which one of them is False for a while in any run.
var usual = []string{v1beta1.ReasonWaiting, v1beta1.ReasonBaselinePending}

// The orders of a list.
const (
	ByAttention = "attention"
	ByName      = "name"
	ByAge       = "age"
)

// Orders are all of them.
var Orders = []string{ByAttention, ByName, ByAge}

// Sort puts rows in an order. By age the newest is first, as it is among those that are
// equally urgent.
func Sort(rows []Row, order string) {
	slices.SortStableFunc(rows, func(a, b Row) int {
		byName := cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		switch order {
		case ByName:
			return byName
		case ByAge:
			return cmp.Or(b.Created.Compare(a.Created), byName)
		}
		return cmp.Or(cmp.Compare(a.urgency, b.urgency), b.Created.Compare(a.Created), byName)
	})
}

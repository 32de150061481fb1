package report

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/format"
)

// Text is the report of a LoadTest. It ends with a line break.
func Text(lt *v1alpha1.LoadTest) string {
	p := &page{lt: lt}
	p.head()
	p.thresholds()
	p.attention()
	for i := range lt.Status.Steps {
		p.step(i)
	}
	p.spread()
	return p.String()
}

// page is a report that is being written.
type page struct {
	strings.Builder
	lt *v1alpha1.LoadTest
}

// labelWidth is that of the column on the left.
const labelWidth = 20

func (p *page) line(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// row is a line with a label on the left.
func (p *page) row(label, format string, args ...any) {
	p.line("%-*s%s", labelWidth, label, fmt.Sprintf(format, args...))
}

func (p *page) head() {
	s := &p.lt.Status
	p.line("LoadTest %s/%s", p.lt.Namespace, p.lt.Name)
	p.line("")
	p.row("Target", "%s", target(&p.lt.Spec.Target))
	p.verified()
	if s.StartTime != nil {
		started := s.StartTime.UTC().Format("2006-01-02 15:04:05 UTC")
		if s.CompletionTime != nil {
			started += ", took " + format.Short(s.CompletionTime.Sub(s.StartTime.Time))
		}
		p.row("Started", "%s", started)
	}
	if s.Workers.Desired > 0 {
		p.row("Workers", "%s", workers(s.Workers))
	}
	if s.MaxSustainedUsers != nil {
		p.row("Sustained", "up to %d users with every threshold kept", *s.MaxSustainedUsers)
	}
	if s.MaxSustainedRate != "" {
		p.row("Sustained", "up to %s requests per second with every threshold kept", s.MaxSustainedRate)
	}
	if s.Verdict == "" {
		p.row("Phase", "%s", phase(s))
		return
	}
	p.row("Verdict", "%s", s.Verdict)
	if reason := judgement(s); reason != "" {
		p.row("", "%s", reason)
	}
}

func target(t *v1alpha1.Target) string {
	if t.Service == nil {
		return t.URL
	}
	port := t.Service.TargetPort()
	return fmt.Sprintf("Service %s, port %s", t.Service.Name, port.String())
}

func workers(w v1alpha1.WorkerCounts) string {
	if w.Lost > 0 {
		return fmt.Sprintf("%d, of which %d lost", w.Desired, w.Lost)
	}
	return fmt.Sprint(w.Desired)
}

func phase(s *v1alpha1.LoadTestStatus) string {
	if s.Phase == "" || s.Phase == v1alpha1.PhasePending {
		return "Pending: the operator has not taken it up yet"
	}
	if s.Summary.Step == "" {
		return string(s.Phase)
	}
	return fmt.Sprintf("%s, step %s", s.Phase, s.Summary.Step)
}

// judgement is the sentence behind the verdict: why the run could not go to its
// end or, when it did, how the thresholds fared.
func judgement(s *v1alpha1.LoadTestStatus) string {
	if failed := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionFailed); failed != nil && failed.Status == metav1.ConditionTrue {
		return failed.Message
	}
	if met := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionThresholdsMet); met != nil {
		return met.Message
	}
	return ""
}

func (p *page) thresholds() {
	list := p.lt.Status.Thresholds
	if len(list) == 0 {
		return
	}
	names, width := make([]string, len(list)), 0
	for i, t := range list {
		if names[i] = t.Name; t.Default {
			names[i] += " (default)"
		}
		width = max(width, len(names[i]))
	}
	p.line("")
	p.line("Thresholds")
	for i, t := range list {
		p.line("  %-*s%-*s  %s", labelWidth-2, t.State, width, names[i], t.Message)
	}
}

// attention is what a reader must know before believing the figures.
func (p *page) attention() {
	s := &p.lt.Status
	said := judgement(s)
	var rows []metav1.Condition
	width := 0
	for _, c := range s.Conditions {
		if alarming(c) && c.Message != said {
			rows = append(rows, c)
			width = max(width, len(c.Reason))
		}
	}
	if len(rows) == 0 {
		return
	}
	p.line("")
	p.line("Attention")
	for _, c := range rows {
		p.line("  %-*s  %s", max(width, labelWidth-4), c.Reason, c.Message)
	}
}

// alarming says whether a condition stands as it should not.
func alarming(c metav1.Condition) bool {
	switch c.Type {
	case v1alpha1.ConditionAccepted, v1alpha1.ConditionWorkersReady, v1alpha1.ConditionGeneratorHealthy:
		return c.Status == metav1.ConditionFalse
	case v1alpha1.ConditionSuspended:
		return c.Status == metav1.ConditionTrue
	case v1alpha1.ConditionComplete:
		return c.Status == metav1.ConditionTrue && c.Reason != v1alpha1.ReasonAllStepsRan
	}
	return false
}

package report

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Text is the report of a LoadTest. It ends with a line break.
func Text(lt *v1beta1.LoadTest) string {
	p := &page{lt: lt}
	p.head()
	p.thresholds()
	p.audits()
	p.attention()
	p.environment()
	p.usage()
	p.sides()
	p.loads()
	p.ladder()
	for i := range lt.Status.Steps {
		p.step(i)
	}
	p.spread()
	return text.Lines(p.String()) // a saved LoadTest may be of anyone
}

// page is a report that is being written.
type page struct {
	strings.Builder
	lt *v1beta1.LoadTest
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
	p.line("LoadTest %s/%s%s", p.lt.Namespace, p.lt.Name, prefixed(": Failed: ", Worst(s)))
	p.line("")
	for _, f := range Facts(p.lt) {
		p.row(f.Name, "%s", f.Text)
	}
	if s.Verdict == "" {
		p.row("Phase", "%s", Phase(s))
		return
	}
	p.row("Verdict", "%s", s.Verdict)
	if reason := Judgement(s); reason != "" {
		p.row("", "%s", reason)
	}
}

// prefixed is a text behind a prefix, if there is any.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// Target is where the load goes, in a few words.
func Target(t *v1beta1.Target) string {
	if t.Service == nil {
		return t.URL
	}
	port := t.Service.TargetPort()
	return fmt.Sprintf("Service %s, port %s", t.Service.Name, port.String())
}

func workers(w v1beta1.WorkerCounts) string {
	if w.Lost > 0 {
		return fmt.Sprintf("%d, %d of them lost", w.Desired, w.Lost)
	}
	return fmt.Sprint(w.Desired)
}

// Phase says where a run stands that has no verdict yet.
func Phase(s *v1beta1.LoadTestStatus) string {
	if s.Phase == "" || s.Phase == v1beta1.PhasePending {
		return "Pending: the operator has not taken it up yet"
	}
	if s.Summary.Step == "" {
		return string(s.Phase)
	}
	if len(s.Loads) > 0 {
		return fmt.Sprintf("%s, %s ended", s.Phase, s.Summary.Step)
	}
	return fmt.Sprintf("%s, step %s", s.Phase, s.Summary.Step)
}

// Judgement is the sentence behind the verdict: why the run could not go to its
// end or, when it did, the result of the thresholds.
func Judgement(s *v1beta1.LoadTestStatus) string {
	if why := v1beta1.NotCarriedOut(s.Conditions); why != nil {
		return why.Message
	}
	if met := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionThresholdsMet); met != nil {
		return met.Message
	}
	return ""
}

func (p *page) thresholds() {
	list := p.lt.Status.Thresholds
	if len(list) == 0 {
		return
	}
	messages := ThresholdResults(&p.lt.Status)
	names, width := make([]string, len(list)), 0
	for i, t := range list {
		names[i] = ThresholdName(&t)
		width = max(width, len(names[i]))
	}
	p.line("")
	p.line("Thresholds")
	for i, t := range list {
		p.line("  %-*s%-*s  %s", labelWidth-2, t.State, width, names[i], messages[i])
	}
}

// ThresholdName is a threshold's name, and whether it holds by default.
func ThresholdName(t *v1beta1.ThresholdStatus) string {
	if t.Default {
		return t.Name + " (default)"
	}
	return t.Name
}

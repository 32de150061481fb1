package preview

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// labelWidth is that of the labels of a report.
const labelWidth = 20

// Text is the preview for people, in the layout of the report that follows it.
func (p *Preview) Text() string {
	var b strings.Builder
	name := p.Name
	if p.Namespace != "" {
		name = p.Namespace + "/" + name
	}
	fmt.Fprintf(&b, "LoadTest %s\n\n", name)
	row := func(label, text string) { fmt.Fprintf(&b, "%-*s%s\n", labelWidth, label, text) }
	row("Target", p.Target)
	for i, other := range p.OtherTargets {
		row(first(i, "Other targets"), other)
	}
	for i, stream := range p.Streams {
		row(first(i, "Streams"), stream)
	}
	for i, refused := range p.Refused {
		row(first(i, "Not allowed"), refused)
	}
	row("Workers", p.workers())
	if p.Sessions > 0 {
		row("Sessions due", atMost(p.Sessions, p.SessionsAtMost))
	}
	row("Requests due", p.requests())
	row("Duration", p.duration())
	for i, text := range p.Before {
		row(first(i, "Before the steps"), text)
	}
	for i, text := range p.After {
		row(first(i, "After the steps"), text)
	}
	for i, text := range p.Notes {
		row(first(i, "Note"), text)
	}
	for _, load := range p.Loads {
		fmt.Fprintf(&b, "\nLoad %s, %s: %s, requests due %s\n", load.Name, load.Begins, text.Plural(int64(load.Workers), "worker"), load.requests())
		load.steps(&b)
		load.thresholds(&b)
	}
	if len(p.Loads) == 0 {
		p.steps(&b)
		p.thresholds(&b)
	}
	return text.Lines(b.String()) // a file may be of anyone
}

func first(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

func (p *Preview) workers() string {
	if n := len(p.Loads); n > 0 {
		return fmt.Sprintf("%d, for %s together", p.Workers, text.Plural(int64(n), "load"))
	}
	if p.Computed {
		return fmt.Sprintf("%d, computed from the largest step", p.Workers)
	}
	return fmt.Sprintf("%d, by spec.parallelism", p.Workers)
}

func (p *Preview) requests() string {
	if p.ByLog {
		return "as many as the log has in its window"
	}
	if p.Requests == 0 {
		return "as many as the target answers"
	}
	text := atMost(p.Requests, p.AtMost)
	if p.MoreAsAnswered {
		text += ", and as many as the target answers in the steps of " + p.answered()
	}
	return text
}

// atMost is a number, which may be less if it is drawn.
func atMost(n int64, drawn bool) string {
	if drawn {
		return fmt.Sprintf("at most %d", n)
	}
	return fmt.Sprint(n)
}

// answered are the loads whose requests follow from the responses.
func (p *Preview) answered() string {
	const users = "users without a rate"
	steps := p.allSteps()
	switch of := func(s Step) bool { return s.Load.Sessions != nil }; {
	case !slices.ContainsFunc(steps, of):
		return users
	case slices.ContainsFunc(steps, func(s Step) bool { return !s.Load.IsPause() && s.Requests == nil && !of(s) }):
		return users + " and of sessions"
	}
	return "sessions"
}

// allSteps are the steps of the run or, with loads, the steps of all loads.
func (p *Preview) allSteps() []Step {
	steps := slices.Clone(p.Steps)
	for _, load := range p.Loads {
		steps = append(steps, load.Steps...)
	}
	return steps
}

func (p *Preview) duration() string {
	bursts := slices.ContainsFunc(p.allSteps(), func(s Step) bool { return s.Load.IsBurst() })
	isSearch := func(p *Preview) bool { return p.Further != "" }
	text := Time(p.Duration.Duration)
	switch {
	case isSearch(p) || slices.ContainsFunc(p.Loads, isSearch):
		text = "at most " + text
	case bursts && p.Duration.Duration == 0:
		text = "until the last response"
	case bursts:
		text += " and the time of the bursts"
	}
	if p.Limit.Duration > p.Duration.Duration {
		text += fmt.Sprintf("; at most %s if every wait takes as long as it may", Time(p.Limit.Duration))
	}
	return text
}

// steps is a table of the steps; of repetitions it is the first.
func (p *Preview) steps(b *strings.Builder) {
	rows := [][]string{{"step", "begins", "warm-up", "lasts", "requests due", "rate"}}
	repetitions := int32(1)
	for i := range p.Steps {
		s := &p.Steps[i]
		repetitions = max(repetitions, s.Repetition)
		if s.Repetition <= 1 {
			rows = append(rows, s.cells())
		}
	}
	b.WriteString("\nSteps\n")
	table(b, rows)
	if repetitions > 1 {
		fmt.Fprintf(b, "  All of this is done %d times.\n", repetitions)
	}
	if p.Further != "" {
		fmt.Fprintf(b, "  %s\n", p.Further)
	}
}

func (s *Step) cells() []string {
	l := &s.Load
	return []string{s.title, Time(s.Begins.Duration), dash(l.WarmUp != nil, Time(v1beta1.OrZero(l.WarmUp))), s.lasts(), s.due(), rate(l)}
}

func (s *Step) lasts() string {
	l := &s.Load
	if l.IsBurst() {
		return "≤ " + Time(v1beta1.OrZero(l.MaxDuration))
	}
	return Time(v1beta1.OrZero(l.Duration) + v1beta1.OrZero(l.Pause))
}

func (s *Step) due() string {
	switch {
	case s.Load.IsPause():
		return "–"
	case s.Load.Sessions != nil && *s.Load.Sessions == 0:
		return "≤ " + text.Plural(plan.MostSessions(&s.Load), "session")
	case s.Load.Sessions != nil:
		return text.Plural(*s.Load.Sessions, "session")
	case s.Load.IsReplay():
		return "by the log"
	case s.Requests == nil:
		return "as answered"
	case s.AtMost:
		return fmt.Sprintf("≤ %d", *s.Requests)
	}
	return fmt.Sprint(*s.Requests)
}

// rate is the total rate of a step: that of users is that of each.
func rate(l *v1beta1.StepLoad) string {
	of := ""
	if l.Sessions != nil {
		of = " sessions"
	}
	switch {
	case l.Rate != nil && l.RampTo != nil:
		return l.Rate.String() + "/s to " + l.RampTo.String() + of + "/s"
	case l.Rate != nil:
		return l.Rate.String() + of + "/s"
	case l.RatePerUser != nil:
		return l.RatePerUser.String() + "/s each"
	case l.IsReplay():
		return "speed " + l.Speed.String()
	}
	return "–"
}

func dash(known bool, text string) string {
	if !known {
		return "–"
	}
	return text
}

// table has its columns as wide as their widest cell, all but the first to the right.
func table(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, cells := range rows {
		fmt.Fprintf(b, "  %-*s", widths[0], cells[0])
		for i, cell := range cells[1:] {
			fmt.Fprintf(b, "   %*s", widths[i+1], cell)
		}
		b.WriteString("\n")
	}
}

func (p *Preview) thresholds(b *strings.Builder) {
	if len(p.Thresholds) == 0 {
		return
	}
	b.WriteString("\nThresholds\n")
	width := 0
	name := func(t *Threshold) string {
		if t.Default {
			return t.Name + " (default)"
		}
		return t.Name
	}
	for i := range p.Thresholds {
		width = max(width, utf8.RuneCountInString(name(&p.Thresholds[i])))
	}
	for i := range p.Thresholds {
		fmt.Fprintf(b, "  %-*s   %s\n", width, name(&p.Thresholds[i]), p.Thresholds[i].Text)
	}
}

// Summary is the preview in a few words.
func (p *Preview) Summary() string {
	sessions := ""
	if p.Sessions > 0 {
		sessions = fmt.Sprintf("sessions due: %s, ", atMost(p.Sessions, p.SessionsAtMost))
	}
	steps := text.Plural(int64(len(p.allSteps())), "step")
	if n := len(p.Loads); n > 0 {
		steps += " in " + text.Plural(int64(n), "load")
	}
	return fmt.Sprintf("%s, %s, %srequests due: %s, duration: %s", steps, text.Plural(int64(p.Workers), "worker"), sessions, p.requests(), p.duration())
}

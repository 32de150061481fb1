package report

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// repetition is which of how many a step is part of.
func (p *page) repetition(n int32) string {
	steps := p.lt.Status.Steps
	return fmt.Sprintf("repetition %d of %d", n, steps[len(steps)-1].Repetition)
}

// spread says how far the repetitions differ or, of figures without any, that
// nothing is known of it: one run says nothing of the next.
func (p *page) spread() {
	s := &p.lt.Status
	measured := slices.ContainsFunc(s.Steps, func(step v1beta1.StepStatus) bool { return step.Result != nil })
	repeated := slices.ContainsFunc(s.Steps, func(step v1beta1.StepStatus) bool { return step.Repetition > 0 })
	switch {
	case len(s.Spread) > 0:
		p.line("")
		p.line("Spread over repetitions, each the median (least to greatest) of n")
		p.line("")
		p.table(SpreadHeads, Spread(p.lt))
	case measured && repeated:
		p.line("")
		p.row("Spread", "not known: no step was completed in two repetitions")
	case measured:
		p.line("")
		p.row("Spread", "not known: the figures are of one run (spec.repetitions)")
	}
}

// SpreadHeads are the heads of the table of spreads.
var SpreadHeads = []string{"step", "n", "p50", "p95", "p99", "goodput", "failed"}

// Spread is how far the repetitions of each step differ, in a row for each.
func Spread(lt *v1beta1.LoadTest) [][]string {
	rows := make([][]string, len(lt.Status.Spread))
	for i := range rows {
		s := &lt.Status.Spread[i]
		rows[i] = []string{titleOf(&lt.Status, s.Name), fmt.Sprint(s.Repetitions),
			times(s.P50), times(s.P95), times(s.P99), rates(s.Goodput), shares(s.FailureRate)}
	}
	return rows
}

// titleOf names a step by its name alone.
func titleOf(s *v1beta1.LoadTestStatus, name string) string {
	for i := range s.Steps {
		if step := &s.Steps[i]; step.Name == name && !step.Load.IsPause() {
			return Title(step)
		}
	}
	return name
}

func times(s *v1beta1.DurationSpread) string {
	if s == nil {
		return TooFew
	}
	short := func(d metav1.Duration) string { return text.Short(d.Duration) }
	return around(short(s.Median), short(s.Min), short(s.Max))
}

func rates(s *v1beta1.NumberSpread) string {
	if s == nil {
		return "not known"
	}
	return around(text.Rate(s.Median), text.Rate(s.Min), text.Rate(s.Max))
}

func shares(s *v1beta1.NumberSpread) string {
	if s == nil {
		return "not known"
	}
	return around(s.Median, s.Min, s.Max)
}

func around(median, low, high string) string { return fmt.Sprintf("%s (%s to %s)", median, low, high) }

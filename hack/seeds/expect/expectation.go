package expect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

// Expectation is what an experiment, or several of a seed, should show.
type Expectation struct {
	// Name is what documents and explanations call it.
	Name string
	// About are the experiments whose results it needs.
	About []string
	// Expected is the sentence that is expected to be true.
	Expected string
	// Fails says which results would refute it.
	Fails string
	// judge says whether it is true, and what was found. It is only called with complete
	// results of all experiments that it is about.
	judge func(*evidence) (found string, answer statistics.Answer)
}

// Finding is an expectation beside what was found.
type Finding struct {
	*Expectation
	Found string
	// Answer is Yes for as expected, No for a surprise, and Unsure for not decided.
	Answer statistics.Answer
	// Explained is why it does not hold, where that is known.
	Explained string
}

// All are the expectations of a seed, or of every seed if none is named.
func All(seed string) []Expectation {
	all := slices.Concat(seed000(), seed001(), seed002(), seed003(), seed004())
	if seed == "" {
		return all
	}
	return slices.DeleteFunc(all, func(e Expectation) bool { return e.About[0][:3] != seed })
}

// Judge compares the expectations with results. One that needs an experiment without a
// record is left out.
func Judge(all record.Results) []Finding {
	var list []Finding
	expectations := All("")
	for i := range expectations {
		e := &expectations[i]
		if slices.ContainsFunc(e.About, func(name string) bool { return all[name] == nil }) {
			continue
		}
		f := Finding{Expectation: e, Found: incomplete(all, e.About), Answer: statistics.No}
		if f.Found == "" {
			rests := &evidence{Results: all}
			f.Found, f.Answer = e.judge(rests)
			if len(rests.limited) > 0 {
				slices.Sort(rests.limited)
				f.Answer = statistics.Unsure
				f.Found += " Not decided, since the machine was the limit: " + strings.Join(slices.Compact(rests.limited), "; ") + "."
			}
		}
		if f.Answer == statistics.No {
			f.Explained = explained[e.Name]
		}
		list = append(list, f)
	}
	return list
}

func incomplete(all record.Results, about []string) string {
	for _, e := range experiment.All() {
		if !slices.Contains(about, e.Name) {
			continue
		}
		if err := all[e.Name].Complete(e.Tests); err != nil {
			return fmt.Sprintf("%s is not complete: %v.", e.Name, err)
		}
	}
	return ""
}

// Mark is what a finding is called.
func (f *Finding) Mark() string {
	switch {
	case f.Answer == statistics.Yes:
		return "as expected"
	case f.Answer == statistics.Unsure:
		return "not decided"
	case f.Explained != "":
		return "surprise, explained"
	}
	return "surprise, unexplained"
}

// Text are the findings for a terminal.
func Text(list []Finding) string {
	var b strings.Builder
	for i := range list {
		f := &list[i]
		fmt.Fprintf(&b, "%s: %s: %s\n    %s\n", f.Name, f.Mark(), f.Expected, f.Found)
		if f.Explained != "" {
			fmt.Fprintf(&b, "    %s\n", f.Explained)
		}
	}
	return b.String()
}

// Total is the outcome of everything. Experiments that a surprise is about are neither
// Expected nor NotDecided; Explained and Unexplained count surprises.
type Total struct{ Experiments, Expected, NotDecided, Explained, Unexplained, Missing int }

// Sum counts the experiments that have results by the worst finding that is about them.
func Sum(all record.Results, list []Finding) Total {
	s := Total{Experiments: len(all), Missing: len(experiment.All()) - len(all)}
	worst := map[string]statistics.Answer{}
	for name := range all {
		worst[name] = statistics.Yes
	}
	for i := range list {
		f := &list[i]
		switch {
		case f.Answer != statistics.No:
		case f.Explained != "":
			s.Explained++
		default:
			s.Unexplained++
		}
		for _, name := range f.About {
			worst[name] = both(worst[name], f.Answer)
		}
	}
	for _, answer := range worst {
		switch answer {
		case statistics.Yes:
			s.Expected++
		case statistics.Unsure:
			s.NotDecided++
		}
	}
	return s
}

func (s Total) String() string {
	text := fmt.Sprintf("%d experiments, %d as expected, %d not decided, %d unexplained", s.Experiments, s.Expected, s.NotDecided, s.Unexplained)
	if s.Explained > 0 {
		text += fmt.Sprintf(", %d explained", s.Explained)
	}
	if s.Missing > 0 {
		text += fmt.Sprintf(", %d without a result", s.Missing)
	}
	return text
}

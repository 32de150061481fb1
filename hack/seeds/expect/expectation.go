package expect

import (
	"fmt"
	"slices"
	"strings"

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
	// judge says whether it is, and what was found. It is only called with complete
	// results of all experiments that it is about.
	judge func(record.Results) (found string, holds bool)
}

// Finding is an expectation beside what was found.
type Finding struct {
	*Expectation
	Found string
	Holds bool
	// Explained is why it does not hold, where that is known.
	Explained string
}

// All are the expectations of a seed, or of every seed if none is named.
func All(seed string) []Expectation {
	all := slices.Concat(every(), seed000(), seed001(), seed002(), seed003(), seed004())
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
		f := Finding{Expectation: e, Found: incomplete(all, e.About)}
		if f.Found == "" {
			f.Found, f.Holds = e.judge(all)
		}
		if !f.Holds {
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
			return fmt.Sprintf("%s is not complete: %v", e.Name, err)
		}
	}
	return ""
}

// Mark is what a finding is called.
func (f *Finding) Mark() string {
	switch {
	case f.Holds:
		return "as expected"
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

// Total is the outcome of everything.
type Total struct{ Experiments, Expected, Explained, Unexplained, Missing int }

// Sum counts the experiments that have results, and of them those that no surprise is
// about.
func Sum(all record.Results, list []Finding) Total {
	s := Total{Experiments: len(all), Missing: len(experiment.All()) - len(all)}
	surprising := map[string]bool{}
	for i := range list {
		f := &list[i]
		switch {
		case f.Holds:
			continue
		case f.Explained != "":
			s.Explained++
		default:
			s.Unexplained++
		}
		for _, name := range f.About {
			surprising[name] = true
		}
	}
	s.Expected = s.Experiments - len(surprising)
	return s
}

func (s Total) String() string {
	text := fmt.Sprintf("%d experiments, %d as expected, %d unexplained", s.Experiments, s.Expected, s.Unexplained)
	if s.Explained > 0 {
		text += fmt.Sprintf(", %d explained", s.Explained)
	}
	if s.Missing > 0 {
		text += fmt.Sprintf(", %d without a result", s.Missing)
	}
	return text
}

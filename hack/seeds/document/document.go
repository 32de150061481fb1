package document

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/seeds/expect"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

// ErrNoResult says that an experiment of the seed has not run.
var ErrNoResult = errors.New("there is no result")

// ErrBroken says that a result is wrong in itself.
var ErrBroken = errors.New("results are wrong")

// Of are the files of a seed by their names, the document and its plots, and the counts of
// its published rows.
func Of(seed string, all record.Results) (map[string][]byte, Counts, error) {
	p, err := read(seed)
	if err != nil {
		return nil, Counts{}, err
	}
	for _, e := range experiment.Of(seed) {
		if all[e.Name] == nil {
			return nil, Counts{}, fmt.Errorf("%w of %s", ErrNoResult, e.Name)
		}
		if err := all[e.Name].Complete(e.Tests); err != nil {
			return nil, Counts{}, fmt.Errorf("%w: %s: %w", ErrNoResult, e.Name, err)
		}
	}
	if c := expect.Check(all, seed); len(c.Broken) > 0 {
		return nil, Counts{}, fmt.Errorf("%w: %s", ErrBroken, strings.Join(c.Broken, "; "))
	}
	d := &document{seed: seed, all: all, published: p, files: map[string][]byte{}, reasons: map[string]int{}}
	d.head()
	d.findings()
	if err := d.plots(); err != nil {
		return nil, Counts{}, err
	}
	if err := d.tables(); err != nil {
		return nil, Counts{}, err
	}
	d.missing()
	d.steps()
	d.hidden()
	counts := d.count()
	d.files["seed-"+seed+".md"] = []byte(d.String())
	return d.files, counts, nil
}

// document is one that is being written.
type document struct {
	strings.Builder
	seed      string
	all       record.Results
	published *published
	files     map[string][]byte
	// counts are those of the tables, in order.
	counts []Counts
	// reasons are numbered in the order in which they come, in which they are listed.
	reasons map[string]int
	listed  []string
}

func (d *document) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d *document) head() {
	s := d.published.Source
	d.line("# %s\n", d.published.Title)
	d.line("Published: `%s` of %s at %s, %s. Run again:\n", s.File, s.Repository, s.Commit, s.Date)
	dates := d.said(func(a *record.About) string { return a.Date.UTC().Format("2006-01-02") })
	d.line("- Date: %s", dates)
	d.line("- Commit: %s", d.said(func(a *record.About) string { return a.Environment.Commit }))
	d.line("- Machine: %s", d.said(func(a *record.About) string {
		return fmt.Sprintf("%s, %s, %s", a.Environment.Machine, a.Environment.Kernel, a.Environment.Go)
	}))
	d.line("- Cluster: %s", d.said(func(a *record.About) string {
		return fmt.Sprintf("Kubernetes %s, %s", a.Environment.Kubernetes, a.Environment.Cluster)
	}))
	if d.seed == "004" {
		d.line("- Size: as published, since what counts grants is not scaled; each step ran %s times", d.repetitions())
	} else {
		d.line("- Size: %s", d.said(func(a *record.About) string {
			size := a.Factor
			size.Limits = ""
			return size.String()
		}))
		d.line("- Limits, by the same factor as users: %s", d.limits())
	}
	d.line("- Command: `%s ARGS=\"-only %s\"`, and `make seeds-report` for this document\n", d.said(func(a *record.About) string { return a.Command }), d.seed)
	d.line("Absolute figures do not carry over: generator, operator, target, databases and three nodes share the machine. Where the generator of a step is not healthy, the machine was the limit, and not the target alone.")
}

// limits are those of the targets, with the experiments that have the same.
func (d *document) limits() string {
	var order []string
	names := map[string][]string{}
	for _, e := range experiment.Of(d.seed) {
		limits := cmp.Or(d.all[e.Name].Factor.Limits, "none is smaller")
		if names[limits] == nil {
			order = append(order, limits)
		}
		names[limits] = append(names[limits], e.Name)
	}
	for i, limits := range order {
		order[i] = limits + " (" + strings.Join(names[limits], ", ") + ")"
	}
	return escape(strings.Join(order, "; "))
}

// said are the different things that records say, in the order of the experiments.
func (d *document) said(of func(*record.About) string) string {
	var list []string
	for _, e := range experiment.Of(d.seed) {
		if text := of(&d.all[e.Name].About); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return escape(strings.Join(list, "; "))
}

// repetitions are how often the steps ran: "5", or "5 or 10" where load tests differ.
func (d *document) repetitions() string {
	var numbers []string
	for _, e := range experiment.Of(d.seed) {
		for i := range d.all[e.Name].LoadTests {
			n := fmt.Sprint(max(1, d.all[e.Name].LoadTests[i].Spec.Repetitions))
			if !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	return strings.Join(numbers, " or ")
}

func (d *document) own() []expect.Finding {
	return slices.DeleteFunc(expect.Judge(d.all), func(f expect.Finding) bool { return f.About[0][:3] != d.seed })
}

func (d *document) findings() {
	d.line("\n## What was expected, and what was found\n")
	d.line("These checks hold for every result; otherwise there is no document:\n")
	c := expect.Check(d.all, d.seed)
	d.line("- %s\n- %s\n- %s\n", c.Verified(), c.Accounted(), c.Ordered())
	d.line("An expectation is judged from the repetitions in which the machine was not the limit, at least %d of them, by the test of Mann and Whitney at 5 %%. *Not decided* is what they leave open.\n", expect.LeastHealthy)
	d.line("| outcome | expected | found | refuted if |\n| :--- | :--- | :--- | :--- |")
	for _, f := range d.own() {
		d.line("| **%s** | %s | %s | %s |", capital(f.Mark()), escape(f.Expected), escape(strings.TrimSpace(f.Found+" "+f.Explained)), escape(f.Fails))
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// checks are what a statement of the seed may be shown by besides an expectation.
var checks = map[string]func(*expect.Checked) string{
	"verified": (*expect.Checked).Verified, "accounted": (*expect.Checked).Accounted, "ordered": (*expect.Checked).Ordered,
}

func (d *document) hidden() {
	found := map[string]string{}
	for _, f := range d.own() {
		found[f.Name] = f.Found
	}
	for name, of := range checks {
		found[name] = of(expect.Check(d.all, d.seed))
	}
	d.line("\n## What the published figures hide\n")
	d.line("| published | what it hides | how it shows here |\n| --- | --- | --- |")
	for _, h := range d.published.Hides {
		var here []string
		for _, name := range h.Shown {
			here = append(here, found[name])
		}
		d.line("| %s | %s | %s |", escape(h.Claim), escape(h.Truth), escape(strings.Join(here, " ")))
	}
}

// special are the characters with a meaning in Markdown that figures and messages have.
var special = strings.NewReplacer("|", "\\|", "*", "\\*", "_", "\\_", "<", "&lt;", ">", "&gt;", "\n", " ", "~", "\\~")

func escape(text string) string { return special.Replace(text) }

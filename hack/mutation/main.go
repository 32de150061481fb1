package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// besides are packages that are as pure as those in hack/archtest's list.
var besides = []string{"controllers/loadtest/search", "measure/...", "text"}

// options are the flags.
type options struct {
	workers, sample int
	lived           bool
	least           float64
	equivalent      string
	files           string
	within          time.Duration
}

func main() {
	var o options
	flag.IntVar(&o.workers, "workers", 2, "how many mutants are tried at the same time")
	flag.IntVar(&o.sample, "sample", 0, "try so many mutants of a package at most, the same each time; 0: all")
	flag.BoolVar(&o.lived, "lived", false, "print the mutants that lived")
	flag.Float64Var(&o.least, "least", 0.97, "the share of a package's mutants that its tests have to kill")
	flag.StringVar(&o.equivalent, "equivalent", "hack/mutation/equivalent.txt", "the list of mutants that do what the original does")
	flag.StringVar(&o.files, "files", "", "try the mutants of files whose names contain this; empty: all")
	flag.DurationVar(&o.within, "within", 0, "leave out tests that take longer, whose mutants then live unless others kill them; 0: none")
	flag.Parse()
	if err := o.mutate(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// mutate tries these packages, or all pure ones.
func (o options) mutate(patterns []string) error {
	known, err := equivalents(o.equivalent)
	if err != nil {
		return err
	}
	if len(patterns) == 0 {
		if patterns, err = pure(); err != nil {
			return err
		}
	}
	folders, err := folders(patterns)
	if err != nil {
		return err
	}
	var below []string
	for _, folder := range folders {
		r, err := o.try(folder, known)
		if err != nil {
			return err
		}
		if r.killed+r.lived == 0 {
			continue // it decides nothing
		}
		fmt.Println(r)
		if r.share() < o.least {
			below = append(below, folder)
		}
	}
	if len(below) > 0 {
		return fmt.Errorf("the tests of %s kill less than %g of the mutants", strings.Join(below, ", "), o.least)
	}
	return nil
}

// pure are the packages of which hack/archtest holds that they decide, and those besides.
func pure() ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "hack/archtest/rules.go", nil, 0)
	if err != nil {
		return nil, err
	}
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != "pure" {
			return !ok
		}
		ast.Inspect(spec, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok {
				name, _ := strconv.Unquote(literal.Value)
				all = append(all, name)
			}
			return true
		})
		return false
	})
	return append(all, besides...), nil
}

// folders returns the folders of packages, relative to the module's folder.
func folders(patterns []string) (all []string, err error) {
	args := make([]string, 0, len(patterns))
	for _, p := range patterns {
		args = append(args, "./"+p)
	}
	packages, err := list(args...)
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		folder, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		all = append(all, folder)
	}
	return all, nil
}

// result is what became of a package's mutants.
type result struct {
	folder                    string
	killed, lived, equivalent int
	survivors                 []mutant
}

func (r result) share() float64 { return float64(r.killed) / float64(r.killed+r.lived) }

func (r result) String() string {
	return fmt.Sprintf("mutation: package=%s killed=%d lived=%d equivalent=%d share=%.3f", r.folder, r.killed, r.lived, r.equivalent, r.share())
}

// try tries the mutants of a package.
func (o options) try(folder string, known []*equivalent) (r result, err error) {
	temporary, err := os.MkdirTemp("", "mutation-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	r.folder = folder
	p, err := build(folder, temporary)
	if err != nil || len(p.mutants) == 0 {
		return r, err
	}
	tests, err := p.tests(o.workers, o.within)
	if err != nil {
		return r, err
	}
	var mutex sync.Mutex
	var wrong error
	err = inParallel(o.workers, o.choose(p.mutants), func(m mutant) error {
		killed, err := p.kills(m, tests)
		mutex.Lock()
		defer mutex.Unlock()
		i := slices.IndexFunc(known, func(e *equivalent) bool { return e.matches(m) })
		switch {
		case err != nil:
			return err
		case i >= 0:
			known[i].found = true
			if r.equivalent++; killed {
				wrong = errors.Join(wrong, fmt.Errorf("%s lists what a test kills: %s", o.equivalent, m))
			}
		case killed:
			r.killed++
		default:
			if r.lived++; o.lived {
				fmt.Println(m)
			}
			r.survivors = append(r.survivors, m)
		}
		return nil
	})
	slices.SortFunc(r.survivors, func(a, b mutant) int { return a.id - b.id })
	return r, errors.Join(err, wrong, o.unknown(folder, known))
}

// choose returns the mutants of some files, or a sample of these, or all.
func (o options) choose(all []mutant) []mutant {
	all = slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !strings.Contains(filepath.Base(m.file), o.files) })
	if o.sample == 0 || o.sample >= len(all) {
		return all
	}
	var chosen []mutant
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(all))[:o.sample] {
		chosen = append(chosen, all[i])
	}
	return chosen
}

// unknown is an error if the list has what is no mutant of the package.
func (o options) unknown(folder string, known []*equivalent) (err error) {
	for _, e := range known {
		if o.sample == 0 && o.files == "" && !e.found && filepath.Dir(e.file) == folder {
			err = errors.Join(err, fmt.Errorf("%s lists what is no mutant: %s | %s | %s", o.equivalent, e.file, e.change, e.text))
		}
	}
	return err
}

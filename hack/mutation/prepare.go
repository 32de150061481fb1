package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tested is what is found of a package before its first mutant.
type tested struct {
	Folder string // relative to that of the module
	// Slow matches the tests that take long. They run only if all others passed.
	Slow string
	// Took is for how many seconds the tests run, and those that take long.
	Took [2]float64
	// Needs is a hash of the packages that it and its tests import.
	Needs string
}

// slow is for how many seconds a test runs that others run before.
const slow = 0.3

// event is what is read of a line of "go test -json".
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// prepare runs the tests with coverage, and writes what it found of their packages.
// It tries each package as if it were a mutant: if that is not well, each mutant would
// count as killed.
func prepare(args []string) error {
	var out bytes.Buffer
	// A cached result would make the timeout short, a multiple of no time.
	err := run(&out, slices.Insert(slices.Clone(args), 1, "-count=1", "-short", "-json"))
	events, invalid := parse(out.Bytes())
	if err = errors.Join(err, invalid); err != nil {
		for _, e := range events {
			fmt.Print(e.Output)
		}
		return err
	}
	packages := map[string]tested{}
	for name, p := range durations(events) {
		if err := p.record(name); err != nil {
			return err
		}
		packages[name] = p
	}
	raw, err := json.Marshal(packages)
	if err != nil {
		return err
	}
	if err := os.WriteFile(os.Getenv(packagesVariable), raw, 0o600); err != nil {
		return err
	}
	for name, p := range packages {
		if code, err := p.try(".", name); code != lived || err != nil {
			return fmt.Errorf("the tests of %s do not pass without a mutant: code %d, %w", name, code, err)
		}
	}
	return nil
}

func parse(output []byte) (events []event, err error) {
	for lines := json.NewDecoder(bytes.NewReader(output)); ; {
		var e event
		switch err := lines.Decode(&e); {
		case errors.Is(err, io.EOF):
			return events, nil
		case err != nil:
			return events, fmt.Errorf("%w in the output of go test: %s", err, output)
		}
		events = append(events, e)
	}
}

// durations says of each package with tests for how long they run.
func durations(events []event) map[string]tested {
	all, long := map[string]tested{}, map[string][]string{}
	for _, e := range events {
		if e.Action != "pass" || e.Test == "" || strings.Contains(e.Test, "/") {
			continue
		}
		p, took := all[e.Package], max(e.Elapsed, ofRows(events, e))
		if took < slow {
			p.Took[0] += took
		} else {
			p.Took[1] += took
			long[e.Package] = append(long[e.Package], regexp.QuoteMeta(e.Test))
			p.Slow = "^(" + strings.Join(long[e.Package], "|") + ")$"
		}
		all[e.Package] = p
	}
	return all
}

// ofRows is for how long the rows of a test run. Its own time is without those that run in
// parallel.
func ofRows(events []event, test event) (seconds float64) {
	for _, e := range events {
		if name, ok := strings.CutPrefix(e.Test, test.Test+"/"); ok && e.Package == test.Package && !strings.Contains(name, "/") {
			seconds += e.Elapsed
		}
	}
	return seconds
}

// record adds the place of a package of the module of the working folder, and its needs.
func (p *tested) record(name string) error {
	const format = `{{if and .Module .Module.Main}}{{.Dir}}{{end}}`
	list, err := exec.Command(os.Getenv(goVariable), "list", "-deps", "-test", "-f", format, name).Output()
	if err != nil {
		return fmt.Errorf("list what %s needs: %w", name, err)
	}
	own, err := exec.Command(os.Getenv(goVariable), "list", "-f", "{{.Dir}}", name).Output()
	if err != nil {
		return fmt.Errorf("list %s: %w", name, err)
	}
	folder := strings.TrimSpace(string(own))
	folders := strings.Fields(string(list))
	slices.Sort(folders)
	if p.Needs, err = hashOfNeeds(slices.DeleteFunc(slices.Compact(folders), func(f string) bool { return f == folder })); err != nil {
		return err
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	p.Folder, err = filepath.Rel(root, folder)
	return err
}

// moduleRoot is the folder of the module of the working folder.
func moduleRoot() (string, error) {
	file, err := exec.Command(os.Getenv(goVariable), "env", "GOMOD").Output()
	return filepath.Dir(strings.TrimSpace(string(file))), err
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// try tests the mutant in the working folder, or returns what an earlier try of the same
// mutant found. The arguments are those with which gremlins calls the go command:
//
//	test -timeout 50s -failfast example.com/module/package
func try(args []string) (code int, err error) {
	name := args[len(args)-1]
	raw, err := os.ReadFile(os.Getenv(packagesVariable))
	if err != nil {
		return notViable, err
	}
	var packages map[string]tested
	if err := json.Unmarshal(raw, &packages); err != nil {
		return notViable, err
	}
	p, ok := packages[name]
	if !ok {
		return notViable, fmt.Errorf("package %s has no tests", name)
	}
	root, err := moduleRoot()
	if err != nil {
		return notViable, err
	}
	kept, code, ok, err := p.recall(filepath.Join(root, p.Folder))
	if ok || err != nil {
		return code, err
	}
	if code, err = p.try(root, name); err != nil {
		return code, err
	}
	return code, kept.store(code)
}

// try builds the tests of the package and runs them, those that take long after the
// others, until one fails.
func (p tested) try(root, name string) (code int, err error) {
	// The folder is for temporary files, which gremlins removes.
	folder, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "mutant-")
	if err != nil {
		return notViable, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program := filepath.Join(folder, "tests")
	// A mutant is killed by a test, not by a remark of vet. Building takes longer than
	// most tests, and a third less without optimization and tables for debuggers.
	build := []string{"GOGC=off", os.Getenv(goVariable), "test", "-c", "-vet=off", "-gcflags=-N -l", "-ldflags=-s -w", "-o", program, name}
	if _, err := output(root, "env", build...); err != nil {
		return notViable, ignoreExit(err)
	}
	stages := [][]string{{}}
	if p.Slow != "" {
		stages = [][]string{{"-test.skip", p.Slow}, {"-test.run", p.Slow}}
	}
	for i, stage := range stages {
		limit := time.Duration(longest * (p.Took[i] + patience) * float64(time.Second))
		flags := append([]string{"-test.short", "-test.failfast", "-test.paniconexit0", "-test.timeout", limit.String()}, stage...)
		if out, err := output(filepath.Join(root, p.Folder), program, flags...); err != nil {
			return failure(out), ignoreExit(err)
		}
	}
	return lived, nil
}

// A stage of a mutant's tests has timed out when it has taken so many times what it takes
// without a mutant, and so many seconds. Beside other work it takes longer.
const (
	longest  = 10
	patience = 1.0
)

// output runs a program in a folder, and returns all that it printed.
func output(folder, program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	return cmd.CombinedOutput()
}

// ignoreExit keeps only errors that are not the exit code of a program: one that a
// signal ended says nothing of the mutant.
func ignoreExit(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return nil
	}
	return err
}

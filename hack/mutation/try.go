package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// test is one of a package's tests, or a part of one that takes long.
type test struct {
	name    string        // of a part, with that of its test and a slash before it
	took    time.Duration // of a processor, so that other work on the machine does not count
	reaches map[int]bool  // mutants by their numbers
}

// first is for how long the tests take that run first, in one process, if there are as many.
const first = 100 * time.Millisecond

// longTest is for how long a test takes whose subtests are tried one by one.
const longTest = time.Second

// A mutant's tests may take so many times the processor's time that they take without it, and some
// seconds more. One that waits for ever takes none: that the machine has other work is allowed for.
const (
	longest  = 5
	patience = 2 * time.Second
	busy     = 30
)

// run runs some tests with one mutant, or none, for a time of a processor at most; 0: as long as they
// take. It returns whether they failed, and the time that they took.
func (p *program) run(mutant int, reached string, limit time.Duration, tests ...string) (failed bool, took time.Duration, output []byte, err error) {
	ctx := context.Background()
	if limit > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, busy*limit)
		defer cancel()
	}
	for i, name := range tests {
		tests[i] = "^" + strings.ReplaceAll(regexp.QuoteMeta(name), "/", "$/^") + "$"
	}
	cmd := exec.CommandContext(ctx, p.file, "-test.short", "-test.failfast", "-test.paniconexit0", "-test.v", "-test.run", strings.Join(tests, "|"))
	cmd.Dir = p.folder
	cmd.Env = append(os.Environ(), "MUTANT="+strconv.Itoa(mutant), "MUTATION_REACHED="+reached, fmt.Sprintf("MUTATION_SECONDS=%.0f", limit.Seconds()))
	cmd.WaitDelay = time.Second // a child of a test may hold its output open
	output, err = cmd.CombinedOutput()
	if s := cmd.ProcessState; s != nil {
		took = s.UserTime() + s.SystemTime()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) || ctx.Err() != nil {
		return true, took, output, nil
	}
	return false, took, output, err
}

// tests runs each of the package's tests alone and without a mutant, and returns them by for how
// long they take. Those that take longer than a bound, which is 0 if there is none, are left out.
func (p *program) tests(workers int, bound time.Duration) (all []*test, err error) {
	if _, err := os.Stat(p.file); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	cmd := exec.Command(p.file, "-test.list", "^(Test|Fuzz|Example)")
	cmd.Dir = p.folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w\n%s", p.folder, err, out)
	}
	for _, name := range strings.Fields(string(out)) {
		all = append(all, &test{name: name})
	}
	var mutex sync.Mutex
	err = inParallel(workers, slices.Clone(all), func(t *test) error {
		out, err := p.reach(t)
		parts := p.parts(t, out)
		mutex.Lock()
		defer mutex.Unlock()
		all = append(all, parts...)
		return err
	})
	slices.SortFunc(all, func(a, b *test) int { return int(a.took - b.took) })
	return slices.DeleteFunc(all, func(t *test) bool { return bound > 0 && t.took > bound }), err
}

// reach runs a test without a mutant, for how long it takes and what it reaches.
func (p *program) reach(t *test) (output []byte, err error) {
	reached := p.file + "-reach-" + strings.ReplaceAll(t.name, "/", "-")
	failed, took, output, err := p.run(-1, reached, 0, t.name)
	if err != nil || failed {
		return nil, errors.Join(err, fmt.Errorf("%s of %s does not pass without a mutant:\n%s", t.name, p.folder, output))
	}
	t.took = took
	t.reaches, err = numbers(reached)
	return output, err
}

var subtest = regexp.MustCompile(`(?m)^=== RUN +([^/\s]+/[^/\s]+)`)

// parts are the subtests of a test that takes long which pass alone. They are tried before it.
func (p *program) parts(whole *test, output []byte) (parts []*test) {
	if whole.took < longTest {
		return nil
	}
	var names []string
	for _, match := range subtest.FindAllSubmatch(output, -1) {
		names = append(names, string(match[1]))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		part := &test{name: name}
		if _, err := p.reach(part); err == nil {
			parts = append(parts, part)
		}
	}
	return parts
}

// numbers are those in a file, which is not there if there are none.
func numbers(file string) (map[int]bool, error) {
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	all := map[int]bool{}
	for _, line := range bytes.Fields(raw) {
		n, err := strconv.Atoi(string(line))
		if err != nil {
			return nil, err
		}
		all[n] = true
	}
	return all, nil
}

// kills says whether a test fails with the mutant. The quickest ones run first, in one process; as
// most mutants fail there, each process takes no longer than all before it, or has one test.
func (p *program) kills(m mutant, tests []*test) (bool, error) {
	tests = slices.DeleteFunc(slices.Clone(tests), func(t *test) bool { return !t.reaches[m.id] })
	for share := first; len(tests) > 0; share *= 2 {
		names, took := []string{tests[0].name}, tests[0].took
		for _, t := range tests[1:] {
			if took+t.took > share {
				break
			}
			names, took = append(names, t.name), took+t.took
		}
		failed, _, _, err := p.run(m.id, "", longest*took+patience, names...)
		if failed || err != nil {
			return failed, err
		}
		tests = tests[len(names):]
	}
	return false, nil
}

// inParallel calls a function with each item, some at a time, until it returns an error.
func inParallel[T any](workers int, items []T, do func(T) error) error {
	var (
		all   sync.WaitGroup
		mutex sync.Mutex
		err   error
	)
	next := make(chan T)
	for range workers {
		all.Go(func() {
			for item := range next {
				failure := do(item)
				mutex.Lock()
				err = errors.Join(err, failure)
				mutex.Unlock()
			}
		})
	}
	for _, item := range items {
		mutex.Lock()
		failed := err != nil
		mutex.Unlock()
		if failed {
			break
		}
		next <- item
	}
	close(next)
	all.Wait()
	return err
}

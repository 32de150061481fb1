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

// test is one of a package's tests.
type test struct {
	name    string
	took    time.Duration
	reaches map[int]bool // mutants by their numbers
}

// quick is for how long a test takes that runs in one process with all that are as quick. Longer
// ones run after these, one after another.
const quick = 250 * time.Millisecond

// A mutant's tests may take so many times what they take without it, and some time more.
const (
	longest  = 10
	patience = 3 * time.Second
)

// run runs some tests with one mutant, or none. It returns whether they failed.
func (p *program) run(mutant int, reached string, limit time.Duration, tests ...string) (failed bool, output []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for i, name := range tests {
		tests[i] = regexp.QuoteMeta(name)
	}
	cmd := exec.CommandContext(ctx, p.file, "-test.short", "-test.failfast", "-test.paniconexit0", "-test.run", "^("+strings.Join(tests, "|")+")$")
	cmd.Dir = p.folder
	cmd.Env = append(os.Environ(), "MUTANT="+strconv.Itoa(mutant), "MUTATION_REACHED="+reached)
	cmd.WaitDelay = time.Second // a child of a test may hold its output open
	output, err = cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) || ctx.Err() != nil {
		return true, output, nil
	}
	return false, output, err
}

// tests runs each of the package's tests alone and without a mutant, and returns them by for how
// long they take.
func (p *program) tests(workers int) (all []*test, err error) {
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
	err = inParallel(workers, all, func(t *test) error {
		reached := p.file + "-reach-" + t.name
		begun := time.Now()
		failed, out, err := p.run(-1, reached, time.Hour, t.name)
		if err != nil || failed {
			return errors.Join(err, fmt.Errorf("%s of %s does not pass without a mutant:\n%s", t.name, p.folder, out))
		}
		t.took = time.Since(begun)
		t.reaches, err = numbers(reached)
		return err
	})
	slices.SortFunc(all, func(a, b *test) int { return int(a.took - b.took) })
	return all, err
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

// kills says whether a test fails with the mutant. The quick ones run in one process.
func (p *program) kills(m mutant, tests []*test) (bool, error) {
	tests = slices.DeleteFunc(slices.Clone(tests), func(t *test) bool { return !t.reaches[m.id] })
	for len(tests) > 0 {
		n, took := 1, tests[0].took
		for n < len(tests) && tests[n].took <= quick {
			took += tests[n].took
			n++
		}
		var names []string
		for _, t := range tests[:n] {
			names = append(names, t.name)
		}
		failed, _, err := p.run(m.id, "", longest*took+patience, names...)
		if failed || err != nil {
			return failed, err
		}
		tests = tests[n:]
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

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	// times is how often a test that failed must pass alone.
	times = 3
	// most is how many tests may fail by chance in a run. More have one cause.
	most = 5
)

func main() {
	c := command{out: os.Stdout}
	flag.StringVar(&c.dir, "C", ".", "the folder to run in")
	flag.BoolVar(&c.verbose, "v", false, "print the output of tests that pass, too, as it comes")
	flag.DurationVar(&c.budget, "budget", 12*time.Minute, "for how long tests that failed are run again, together")
	flag.StringVar(&c.results, "results", "", "the file to which the names of tests are added that failed by chance, and what became of all")
	flag.Parse()
	var err error
	if c.flags, c.packages, err = split(flag.Args()); err == nil {
		err = c.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "retest:", err)
		os.Exit(1)
	}
}

// split divides the arguments at the first --: flags of go test before it, packages after.
func split(args []string) (flags, packages []string, err error) {
	at := slices.Index(args, "--")
	if at < 0 || at == len(args)-1 {
		return nil, nil, errors.New("want FLAGS -- PACKAGES")
	}
	return args[:at], args[at+1:], nil
}

// command is a call of go test.
type command struct {
	dir             string
	verbose         bool
	budget          time.Duration
	results         string
	flags, packages []string
	out             io.Writer
}

// run runs all tests, and again those that failed. It returns an error unless each of these
// failed by chance.
func (c command) run() error {
	r, err := c.test(c.flags, c.packages)
	var flaky []test
	if err != nil {
		flaky, err = c.again(r, err)
	}
	return errors.Join(err, c.note(r, flaky))
}

// again runs the tests again that failed, with an error, and returns them if they failed by
// chance.
func (c command) again(r *results, err error) (flaky []test, _ error) {
	all, why := r.suspects()
	if why != "" {
		return nil, fmt.Errorf("%w; not run again: %s", err, why)
	}
	end := time.Now().Add(c.budget)
	for _, t := range all {
		left := time.Until(end)
		if left <= 0 {
			return nil, fmt.Errorf("%s failed, and no time is left to run it again", t)
		}
		fmt.Fprintf(c.out, "=== again alone, %d times: %s\n", times, t)
		alone, err := c.test(c.alone(t, left), []string{t.Package})
		if err != nil {
			return nil, fmt.Errorf("%s failed again", t)
		}
		if n := alone.passes[t]; n != times {
			return nil, fmt.Errorf("%s failed, and passed %d of %d times when it ran alone", t, n, times)
		}
	}
	return all, nil
}

// alone are the flags with which a test runs alone, for no longer than what is left.
func (c command) alone(t test, left time.Duration) []string {
	return append(slices.Clone(c.flags), "-run", t.pattern(), fmt.Sprintf("-count=%d", times), fmt.Sprintf("-timeout=%s", left))
}

// note repeats what tests said that failed, and says which tests failed by chance and what became of all, and adds that to the file.
func (c command) note(r *results, flaky []test) error {
	if why := r.why.String(); why != "" {
		fmt.Fprintf(c.out, "\nwhat failed, last lines of each:\n%s", why)
	}
	all := ""
	for _, t := range flaky {
		all += fmt.Sprintf("flaky: %s\n", t)
	}
	all += r.count(len(flaky))
	fmt.Fprint(c.out, all)
	if c.results == "" {
		return nil
	}
	f, err := os.OpenFile(c.results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(all)
	return errors.Join(err, f.Close())
}

// test runs go test, and prints what it says.
func (c command) test(flags, packages []string) (*results, error) {
	r := newResults(c.out, c.verbose)
	args := slices.Concat([]string{"test", "-json"}, flags, packages)
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = c.dir, os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	r.read(pipe)
	if err := cmd.Wait(); err != nil {
		return r, fmt.Errorf("go test: %w", err)
	}
	return r, nil
}

// read reads the events, one on each line. Other lines are printed as they are.
func (r *results) read(from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &e) == nil:
			r.add(e)
		case line != "":
			fmt.Fprint(r.out, line)
		}
		if err != nil {
			return
		}
	}
}

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
	flaky := flag.String("flaky", "", "the file to which the names of tests are added that failed by chance")
	flag.Parse()
	var err error
	if c.flags, c.packages, err = split(flag.Args()); err == nil {
		err = c.run(*flaky)
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
	flags, packages []string
	out             io.Writer
}

// run runs all tests, and again those that failed. It returns an error unless each of these
// failed by chance.
func (c command) run(flaky string) error {
	r, err := c.test(c.flags, c.packages)
	if err == nil {
		return nil
	}
	failed, why := r.suspects()
	if why != "" {
		return fmt.Errorf("%w; not run again: %s", err, why)
	}
	for _, t := range failed {
		fmt.Fprintf(c.out, "=== again alone, %d times: %s\n", times, t)
		alone := append(slices.Clone(c.flags), "-run", t.pattern(), fmt.Sprintf("-count=%d", times))
		if again, err := c.test(alone, []string{t.Package}); err != nil || !again.passed(t) {
			return fmt.Errorf("%s failed again", t)
		}
	}
	return note(c.out, flaky, failed)
}

// note says which tests failed by chance, and adds them to the file.
func note(out io.Writer, file string, failed []test) error {
	all := ""
	for _, t := range failed {
		all += fmt.Sprintf("flaky: %s\n", t)
	}
	fmt.Fprint(out, all)
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(all)
	return errors.Join(err, f.Close())
}

// test runs go test, and prints what it says.
func (c command) test(flags, packages []string) (*results, error) {
	args := slices.Concat([]string{"test", "-json"}, flags, packages)
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = c.dir, os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &results{out: c.out, verbose: c.verbose}
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

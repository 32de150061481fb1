package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// pure are the packages whose decisions have no effects, with those below them.
var pure = []string{
	"controllers/lifecycle", "controllers/plan", "controllers/results", "controllers/verdict",
	"loadworker/pace", "measure",
}

// The bars, in percent.
const (
	leastEfficacy = 97
	leastCovered  = 95
)

func main() {
	if filepath.Base(os.Args[0]) == "go" {
		os.Exit(stand(os.Args[1:]))
	}
	workers := flag.Int("workers", 2, "how many mutants are tried at the same time")
	flag.Parse()
	if err := mutate(flag.Args(), *workers); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// mutate tests these packages, or all.
func mutate(packages []string, workers int) error {
	if len(packages) == 0 {
		packages = pure
	}
	var missed []string
	for _, p := range packages {
		r, err := unleash(p, workers)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		fmt.Println(r.line(p))
		if !r.good() {
			missed = append(missed, p)
		}
	}
	if len(missed) > 0 {
		return fmt.Errorf("below the bars (efficacy %d %%, covered %d %%): %s", leastEfficacy, leastCovered, strings.Join(missed, ", "))
	}
	return nil
}

// The variables of the program in the place of the go command: the real go command, and
// files for what it finds of the packages before the first mutant, and for how many
// mutants timed out.
const (
	goVariable       = "MUTATION_GO"
	packagesVariable = "MUTATION_PACKAGES"
	timedOutVariable = "MUTATION_TIMED_OUT"
)

// timedOutFile is the name of the file with a byte for each mutant that timed out.
const timedOutFile = "timed-out"

// standIn puts this program in the place of the go command: it returns an environment
// in which it is found first, and a folder to be removed.
func standIn() (env []string, folder string, err error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, "", err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	if folder, err = os.MkdirTemp("", "mutation-"); err != nil {
		return nil, "", err
	}
	if err := copyProgram(filepath.Join(folder, "go"), self); err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(folder))
	}
	return append(os.Environ(),
		goVariable+"="+tool, packagesVariable+"="+filepath.Join(folder, "packages.json"),
		timedOutVariable+"="+filepath.Join(folder, timedOutFile),
		"PATH="+folder+":"+os.Getenv("PATH")), folder, nil
}

// copyProgram copies a program. A link would do, but for Go, which removes from its cache
// what "go run" has built and others need room for: the go command itself would be found
// then, which takes a mutant that does not compile for one that a test killed.
func copyProgram(to, from string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o700)
}

// report is what is read of gremlins' own.
type report struct {
	Killed     int `json:"mutants_killed"`
	Lived      int `json:"mutants_lived"`
	NotCovered int `json:"mutants_not_covered"`
	// TimedOut is of this program's own count. Most of these mutants loop for ever.
	TimedOut int `json:"-"`
}

// unleash has gremlins try the mutants of a package, and of those in folders below it.
func unleash(folder string, workers int) (r report, err error) {
	env, temporary, err := standIn()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	file := filepath.Join(temporary, "report.json")
	// The timeout is a multiple of what all tests took. It is never reached: the tests of
	// a mutant have one of their own. Without --test-cpu: gremlins 0.6 passes it as one
	// word, "-cpu 1", which no test program has.
	cmd := exec.Command("gremlins", "unleash", "--workers", strconv.Itoa(workers), "--timeout-coefficient", "100",
		"--output-statuses", "lctv", "--output", file, "./"+folder)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return r, err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, err
	}
	count, err := os.ReadFile(filepath.Join(temporary, timedOutFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	r.TimedOut = len(count)
	return r, err
}

func (r report) efficacy() float64 { return percent(r.Killed, r.Killed+r.Lived) }
func (r report) covered() float64  { return percent(r.Killed+r.Lived, r.Killed+r.Lived+r.NotCovered) }
func (r report) good() bool        { return r.efficacy() >= leastEfficacy && r.covered() >= leastCovered }

func (r report) line(folder string) string {
	return fmt.Sprintf("mutation: package=%s killed=%d lived=%d timed-out=%d efficacy=%.1f covered=%.1f", folder, r.Killed, r.Lived, r.TimedOut, r.efficacy(), r.covered())
}

// percent of no mutants is none: a package that was not tested is not good.
func percent(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

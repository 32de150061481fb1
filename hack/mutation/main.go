package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	run := mutate
	if name := filepath.Base(os.Args[0]); name == "go" {
		run = stand
	}
	if err := run(os.Args[1:]); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			os.Exit(exit.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// mutate tests the packages of the arguments, or all.
func mutate(packages []string) error {
	if len(packages) == 0 {
		packages = pure
	}
	env, folder, err := standIn()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	var missed []string
	for _, p := range packages {
		r, err := unleash(p, env, filepath.Join(folder, "report.json"))
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

// goVariable names the real go command to the program in its place.
const goVariable = "MUTATION_GO"

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
	if err := os.Symlink(self, filepath.Join(folder, "go")); err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(folder))
	}
	return append(os.Environ(), goVariable+"="+tool, "PATH="+folder+":"+os.Getenv("PATH")), folder, nil
}

// stand does what the go command does, and widens the coverage profile that it was
// asked for.
func stand(args []string) error {
	cmd := exec.Command(os.Getenv(goVariable), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	if i := slices.Index(args, "-coverprofile"); i >= 0 && i+1 < len(args) {
		return widenFile(args[i+1])
	}
	return nil
}

// report is what is read of gremlins' own.
type report struct {
	Killed     int `json:"mutants_killed"`
	Lived      int `json:"mutants_lived"`
	NotCovered int `json:"mutants_not_covered"`
}

func unleash(folder string, env []string, file string) (report, error) {
	// The timeout is a multiple of what all tests took; beside other work each takes
	// longer.
	cmd := exec.Command("gremlins", "unleash", "--workers", "2", "--test-cpu", "1", "--timeout-coefficient", "30",
		"--output-statuses", "lct", "--output", file, "./"+folder)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return report{}, err
	}
	var r report
	raw, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(raw, &r)
}

func (r report) efficacy() float64 { return percent(r.Killed, r.Killed+r.Lived) }
func (r report) covered() float64  { return percent(r.Killed+r.Lived, r.Killed+r.Lived+r.NotCovered) }
func (r report) good() bool        { return r.efficacy() >= leastEfficacy && r.covered() >= leastCovered }

func (r report) line(folder string) string {
	return fmt.Sprintf("mutation: package=%s killed=%d lived=%d efficacy=%.1f covered=%.1f", folder, r.Killed, r.Lived, r.efficacy(), r.covered())
}

// percent of no mutants is none: a package that was not tested is not good.
func percent(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

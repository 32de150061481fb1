package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	if err := mutate(os.Args[1:]); err != nil {
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

// report is what is read of gremlins' own.
type report struct {
	Killed     int `json:"mutants_killed"`
	Lived      int `json:"mutants_lived"`
	NotCovered int `json:"mutants_not_covered"`
	Files      []struct {
		Mutations []struct {
			Status string `json:"status"`
		} `json:"mutations"`
	} `json:"files"`
}

func unleash(folder string, env []string, file string) (report, error) {
	// The timeout is a multiple of what all tests took; beside other work each takes
	// longer. Without --test-cpu: gremlins 0.6 passes it as one word, "-cpu 1", which
	// no test program knows.
	cmd := exec.Command("gremlins", "unleash", "--workers", "2", "--timeout-coefficient", "10",
		"--output-statuses", "lctv", "--output", file, "./"+folder)
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
	return fmt.Sprintf("mutation: package=%s killed=%d lived=%d timed-out=%d efficacy=%.1f covered=%.1f", folder, r.Killed, r.Lived, r.timedOut(), r.efficacy(), r.covered())
}

// timedOut counts the mutants that neither lived nor were killed: most loop for ever.
func (r report) timedOut() int {
	n := 0
	for _, f := range r.Files {
		for _, m := range f.Mutations {
			if m.Status == "TIMED OUT" {
				n++
			}
		}
	}
	return n
}

// percent of no mutants is none: a package that was not tested is not good.
func percent(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

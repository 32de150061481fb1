package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/document"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/expect"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

const (
	results   = "bin/seeds"
	documents = "docs/results"
)

// errUnexpected says that all went well, but not as it should. The last line has the
// numbers.
var errUnexpected = errors.New("not as expected")

// options are the flags.
type options struct {
	only        string
	report      bool
	plan        bool
	repetitions int
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "run these experiments alone: names or beginnings of names, separated by commas, such as 004 or 000-v1,003")
	flag.BoolVar(&o.report, "report", false, "run nothing; write docs/results/seed-00N.md of the results that are there")
	flag.BoolVar(&o.plan, "plan", false, "run nothing; say what would run, and for how long")
	flag.IntVar(&o.repetitions, "repetitions", int(manifest.TwoCores.Repetitions), fmt.Sprintf("how often the steps of each load test run, 1 to %d", manifest.MaxRepetitions))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, o)
	switch {
	case err == nil:
		return
	case deploy.Interrupted(ctx):
		fmt.Println("\nseeds: interrupted; make seeds goes on where it was")
	case !errors.Is(err, errUnexpected):
		fmt.Printf("\nseeds: FAILED: %v\n", err)
	}
	stop()
	os.Exit(1)
}

func run(ctx context.Context, o options) error {
	if _, err := os.Stat(samples); err != nil {
		return fmt.Errorf("%s is not here: run it from the root of the repository, by make seeds", samples)
	}
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	factor, err := repeated(o.repetitions)
	if err != nil {
		return err
	}
	r, err := newRunner(record.Store(results), factor)
	if err != nil {
		return err
	}
	if !o.report {
		if err := r.all(ctx, chosen, o.plan); err != nil || o.plan {
			return err
		}
	}
	all, err := r.current(ctx)
	if err != nil {
		return err
	}
	if o.report {
		if err := write(all); err != nil {
			return err
		}
	}
	return conclude(all, o.only != "" || o.report)
}

// repeated is the factor of two cores with so many repetitions.
func repeated(repetitions int) (manifest.Factor, error) {
	if repetitions < 1 || repetitions > manifest.MaxRepetitions {
		return manifest.Factor{}, fmt.Errorf("-repetitions is %d: use 1 to %d", repetitions, manifest.MaxRepetitions)
	}
	factor := manifest.TwoCores
	factor.Repetitions = int32(repetitions)
	return factor, nil
}

// choose are the experiments whose names begin with one of those that are named.
func choose(only string) ([]experiment.Experiment, error) {
	if only == "" {
		return experiment.All(), nil
	}
	var chosen []experiment.Experiment
	used := map[string]bool{}
	names := strings.Split(only, ",")
	for _, e := range experiment.All() {
		for _, name := range names {
			if e.Name == name || e.Seed() == name {
				chosen, used[name] = append(chosen, e), true
				break
			}
		}
	}
	for _, name := range names {
		if !used[name] {
			return nil, fmt.Errorf("-only: there is no seed or experiment %q", name)
		}
	}
	return chosen, nil
}

// write makes the documents of the seeds whose experiments all have results.
func write(all record.Results) error {
	var sum document.Counts
	for _, seed := range experiment.Seeds() {
		files, counts, err := document.Of(seed, all)
		if errors.Is(err, document.ErrNoResult) {
			fmt.Printf("    seed %s: no document: %v\n", seed, err)
			continue
		}
		if err != nil {
			return err
		}
		for name, text := range files {
			path := filepath.Join(documents, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return err
			}
			fmt.Printf("    wrote %s\n", path)
		}
		sum.Add(counts)
	}
	fmt.Printf("tables: %s\n", sum)
	if sum.Missing > 0 {
		return fmt.Errorf("%d published rows have neither a figure nor a reason: the documents name their tables", sum.Missing)
	}
	return nil
}

// conclude prints what was expected and found, and the last line. Of a part the rest may
// be missing. A result that is wrong in itself fails before anything is said of it.
func conclude(all record.Results, part bool) error {
	if c := expect.Check(all, ""); len(c.Broken) > 0 {
		return fmt.Errorf("results are wrong, and their experiments have to run again:\n    %s", strings.Join(c.Broken, "\n    "))
	}
	findings := expect.Judge(all)
	fmt.Print("\n", expect.Text(findings))
	sum := expect.Sum(all, findings)
	fmt.Printf("\nseeds: %s\n", sum)
	if sum.Unexplained > 0 || sum.Missing > 0 && !part {
		return errUnexpected
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	each := flag.Duration("time", 10*time.Second, "how long a target runs at a time")
	executions := flag.Int64("executions", 0, "run the targets again until they had as many together")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := fuzz(ctx, *each, *executions); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func fuzz(ctx context.Context, each time.Duration, executions int64) error {
	all, err := find(".")
	if err != nil {
		return err
	}
	sum := tally{targets: len(all)}
	for round := 0; ctx.Err() == nil && sum.failures == 0; round++ {
		before := sum.executions
		for _, t := range all {
			if ctx.Err() == nil && (round == 0 || sum.executions < executions) {
				sum.add(t.run(ctx, each))
			}
		}
		if sum.executions >= executions || sum.executions == before {
			break
		}
	}
	fmt.Println(sum)
	switch {
	case sum.failures > 0:
		return errors.New("the inputs that fail are in testdata/fuzz")
	case sum.executions < executions:
		return fmt.Errorf("want %d executions", executions)
	}
	return nil
}

// tally is what all runs had together.
type tally struct {
	targets    int
	executions int64
	failures   int
}

func (s *tally) add(r result) {
	s.executions += r.executions
	if r.failed {
		s.failures++
	}
}

func (s tally) String() string {
	return fmt.Sprintf("fuzz: %d targets, %d executions, %d failures", s.targets, s.executions, s.failures)
}

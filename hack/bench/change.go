package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"time"
)

// benchChange measures what a change of the worker costs: the workers of this tree and of
// another commit send in turn, in an order that chance decides, so that what changes on the
// machine meanwhile meets both alike. The processor time of each request is compared.
func benchChange(ctx context.Context, b *bench) (string, error) {
	if b.before == "" {
		return "", errors.New("-before must name a commit, with whose worker this one is compared")
	}
	old, err := b.earlier(ctx)
	if err != nil {
		return "", err
	}
	d := b.length(4 * time.Second)
	fmt.Fprintf(b.out, "One core for the generator, one for the server, %d connections, %v, medians of %d rounds, and of their ratios.\n\n"+
		"| generator | over | CPU us/req before | after | x before (min..max) |\n| --- | --- | --- | --- | --- |\n", connections, d, b.rounds)
	var all []float64
	for _, over := range protocols {
		if b.over != "" && over != b.over {
			continue
		}
		earlier := old.ourLoads(over, d)
		for i, now := range b.ourLoads(over, d) {
			costs, err := b.inTurn(ctx, earlier[i], now)
			if err != nil {
				return "", err
			}
			ratios := make([]float64, b.rounds)
			for round := range ratios {
				ratios[round] = costs[1][round] / costs[0][round]
			}
			least, most := extremes(ratios)
			fmt.Fprintf(b.out, "| %s | %s | %.2f | %.2f | %.3f (%.3f..%.3f) |\n", now.name, over, median(costs[0]), median(costs[1]), median(ratios), least, most)
			all = append(all, median(ratios))
		}
	}
	least, most := extremes(all)
	return fmt.Sprintf("bench-change: cpu-per-request=%.3f least=%.3f most=%.3f", median(all), least, most), nil
}

// inTurn measures both in each round, and returns what a request cost each, in microseconds.
func (b *bench) inTurn(ctx context.Context, pair ...contender) (costs [2][]float64, err error) {
	for round := range b.rounds {
		first := rand.IntN(2)
		for _, i := range []int{first, 1 - first} {
			s, err := b.measure(ctx, pair[i])
			if err != nil {
				return costs, err
			}
			costs[i] = append(costs[i], s.generatorCost())
		}
		fmt.Fprintf(b.log, "round %d: %-29s %-6s %6.2f us before, %6.2f us after\n", round+1, pair[0].name, pair[0].over, costs[0][round], costs[1][round])
	}
	return costs, nil
}

func extremes(values []float64) (least, most float64) {
	least, most = values[0], values[0]
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	return least, most
}

// earlier has the worker of the other commit.
func (b *bench) earlier(ctx context.Context) (*bench, error) {
	old := *b
	old.driver, old.root = "driver-before", b.path("before")
	git := func(args ...string) error {
		c := exec.CommandContext(ctx, "git", args...)
		c.Dir = b.root
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := git("worktree", "add", "--detach", old.root, b.before); err != nil {
		return nil, err
	}
	err := old.compile(ctx, old.driver, "./test/driver", "build")
	return &old, errors.Join(err, git("worktree", "remove", "--force", old.root))
}

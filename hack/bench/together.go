package main

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
)

// pair is two generators over a protocol.
type pair struct {
	ours, theirs string
	over         protocol
}

// pairs are those that are measured at the same time.
var pairs = []pair{
	{ourUsers, "wrk", overTLS},
	{ourUsers, "h2load", overHTTP2},
	{our16, h2load16, overHTTP2},
	{ourUsers, "ghz", overGRPC},
	{our16, ghz16, overGRPC},
	{ourUsers, fastGHZ, overGRPC},
	{our16, fastGHZ16, overGRPC},
}

// together runs the generators of each pair at the same time on the same core, each against a
// server of its own, and returns how many times as many requests ours sends for each second of
// processor time. Where the server is the limit, that is what can be compared, and what changes
// on the machine changes it for both.
func (b *bench) together(ctx context.Context, list []contender) (map[pair][]float64, error) {
	ratios := map[pair][]float64{}
	for round := range b.rounds {
		for _, p := range pairs {
			var measured [2]sample
			var both errgroup.Group
			for i, name := range []string{p.ours, p.theirs} {
				c := list[slices.IndexFunc(list, func(c contender) bool { return c.key() == key{name, p.over} })]
				both.Go(func() (err error) {
					measured[i], err = b.measure(ctx, c)
					return err
				})
			}
			if err := both.Wait(); err != nil {
				return nil, err
			}
			times := measured[0].perCPU() / measured[1].perCPU()
			fmt.Fprintf(b.log, "round %d, at once: %s and %s over %s: %.2f\n", round+1, p.ours, p.theirs, p.over, times)
			ratios[p] = append(ratios[p], times)
		}
	}
	return ratios, nil
}

func (b *bench) writeTogether(ratios map[pair][]float64) {
	fmt.Fprint(b.out, "\nTwo generators at the same time on the same core, each with a server of its own:\n\n")
	t := newTable("generator", "beside", "over", "requests per CPU second (min..max)")
	for _, p := range pairs {
		list := ratios[p]
		t.row(p.ours, p.theirs, p.over, fmt.Sprintf("%.2f times (%.2f..%.2f)", median(list), slices.Min(list), slices.Max(list)))
	}
	t.write(b.out)
}

//go:build e2e

package faults

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/soak"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var soakSeed = flag.Uint64("seed", 0, "seed of the soak; 0: another one each time")

const (
	// settleLatest bounds the time from the last action to the end of the last run: the
	// longest start deadline and load, and a takeover.
	settleLatest = 4 * time.Minute
	// restLatest bounds the time after which the operator holds nothing any more of the
	// runs that there were. The runtime collects garbage every two minutes at least.
	restLatest = 3 * time.Minute
	// freshest is among how many of the newest LoadTests one is changed: older ones have
	// ended, and only deletion has an effect on them.
	freshest = 12
	// alongside is how many runs may be under way at once on two cores. Another one
	// takes the place of the oldest.
	alongside = 20
)

// TestSoak creates, changes and deletes LoadTests in a seeded order while faults hit the
// cluster, and looks for what is stuck, leaked or judged wrongly. `make soak` runs it.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(cluster.Env("DURATION", "0s"))
	must.Succeed(t, err)
	if length == 0 || cluster.Env("CLUSTER", "local") != "local" {
		t.Skip("make soak runs it, on the local cluster, whose nodes are processes of this host")
	}
	s := newSoaker(t, length)
	defer func() {
		fmt.Print(s.report.Details())
		fmt.Println(s.report)
		if !s.report.OK() {
			t.Fail()
		}
	}()
	first, second := soak.Plan(s.seed, length)
	ctx := t.Context()
	s.lap(ctx, "first lap", first)
	s.warmUp(ctx)
	s.report.Before = s.rest(ctx, nil)
	s.lap(ctx, "second lap", second)
	s.report.After = s.rest(ctx, &s.report.Before)
	s.report.Leaked = append(s.report.Leaked, soak.Leaks(s.report.Before, s.report.After)...)
}

// soaker creates and changes LoadTests, and notes what it finds.
type soaker struct {
	t      *testing.T
	seed   uint64
	begun  time.Time
	target cluster.Counter
	// operator reads what the process that leads holds.
	operator *cluster.Scraper
	report   soak.Report
	faults   int
	// injecting are the faults that are to be taken back.
	injecting sync.WaitGroup
}

func newSoaker(t *testing.T, length time.Duration) *soaker {
	t.Helper()
	s := &soaker{t: t, seed: *soakSeed}
	if s.seed == 0 {
		s.seed = uint64(time.Now().UnixNano())
	}
	fmt.Printf("soak: seed=%d length=%s; ARGS=-seed=%d repeats the order\n", s.seed, length, s.seed)
	must.Succeed(t, healAll(t.Context()))
	target := cluster.CounterOf(t, cluster.Namespace(t))
	s.target, s.operator, s.begun = target, cluster.NewScraper(t, target.Namespace), time.Now()
	t.Cleanup(s.injecting.Wait)
	return s
}

// lap carries out the actions of a lap, and then waits for the end of all runs, judges
// and removes them.
func (s *soaker) lap(ctx context.Context, name string, actions []soak.Action) {
	s.say("%s begins", name)
	begun, told := time.Now(), time.Now()
	fault := make(chan error, 1)
	fault <- nil // none is under way
	for _, a := range actions {
		must.Succeed(s.t, cluster.SleepUntil(ctx, begun.Add(a.At)))
		if a.IsFault() {
			s.check(<-fault)
			s.faults++
			s.injecting.Go(func() { fault <- s.inject(ctx, a) })
		} else {
			s.check(s.act(ctx, a))
		}
		if time.Since(told) > 30*time.Second {
			told = time.Now()
			s.progress(ctx)
		}
	}
	s.check(<-fault)
	s.check(cluster.AwaitOperator(ctx))
	s.settle(ctx)
}

// check ends the test if the soak itself cannot go on.
func (s *soaker) check(err error) {
	s.t.Helper()
	must.Succeed(s.t, err)
}

// say prints a line with the time since the beginning.
func (s *soaker) say(format string, args ...any) {
	fmt.Printf("soak: %6s %s\n", time.Since(s.begun).Round(time.Second), fmt.Sprintf(format, args...))
}

func (s *soaker) progress(ctx context.Context) {
	phases := map[v1beta1.Phase]int{}
	all, err := s.list(ctx)
	for _, lt := range all {
		phases[lt.Status.Phase]++
	}
	var counted []string
	for phase, n := range phases {
		counted = append(counted, fmt.Sprintf("%s=%d", phase, n))
	}
	slices.Sort(counted)
	held := "no operator leads"
	if now, _, err := sample(ctx, s.operator); err == nil {
		held = now.String()
	}
	if err != nil {
		held = err.Error()
	}
	s.say("runs=%d faults=%d %s %s", s.report.Runs, s.faults, strings.Join(counted, " "), held)
}

// warmUp has the process that leads now carry out runs, each of another load, so that
// what it allocates once is there.
func (s *soaker) warmUp(ctx context.Context) {
	s.say("warm-up")
	for i, load := range soak.Loads() {
		s.check(s.create(ctx, fmt.Sprintf("warm-%02d", i), load, 2))
	}
	s.settle(ctx)
}

// rest waits until the operator holds no more than before, or what it has is settled if
// before is nil, and returns what it holds.
func (s *soaker) rest(ctx context.Context, before *soak.Sample) (now soak.Sample) {
	collected := -1
	err := cluster.Try(ctx, restLatest, func(ctx context.Context) error {
		sampled, cycles, err := sample(ctx, s.operator)
		if err != nil {
			return err
		}
		if sampled.Process != now.Process {
			collected = cycles
		}
		now = sampled
		switch {
		case now.Sessions > 0:
			return fmt.Errorf("%d sessions are open", now.Sessions)
		case cycles < collected+2: // the first one may have begun before
			return errors.New("the garbage was not collected yet")
		case before != nil && len(soak.Leaks(*before, now)) > 0:
			return errors.New(strings.Join(soak.Leaks(*before, now), "; "))
		}
		return nil
	})
	s.say("at rest: %s", now)
	if err != nil {
		s.say("given up: %v", err)
	}
	if now.Process == "" {
		s.t.Fatal("the operator cannot be measured: ", err)
	}
	return now
}

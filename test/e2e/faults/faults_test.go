//go:build e2e

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// TestFaults injects faults into runs, and judges each run by what its target counted.
// It prints a line for each, and the summary last. With FULL=1 it injects all of them,
// else those that fit into a few minutes; with FAULT=text those whose name has it. Some come at
// moments that are drawn; their lines have the SEED that draws them again.
//
// Faults that hit one run are injected side by side; those that hit the operator or
// the whole cluster one after another, each into several runs in different states.
//
// Of a suite of which more than a third was excused, for a machine that was busy by its own
// word, nothing is known: see excusedSuites.
func TestFaults(t *testing.T) {
	c := newCampaign(t)
	c.full, c.only = os.Getenv("FULL") != "", os.Getenv("FAULT")
	var err error
	c.seed, err = strconv.ParseUint(cluster.Env("SEED", strconv.Itoa(rand.IntN(1000))), 10, 64)
	must.Succeed(t, err)
	if c.local {
		must.Succeed(t, healAll(t.Context()))
	}
	fmt.Println(fault.Header())
	t.Run("one run", func(t *testing.T) { c.in(t).single() })
	t.Run("all runs", func(t *testing.T) { c.in(t).shared() })
}

// campaign is what all faults share.
type campaign struct {
	t *testing.T
	// full says that all faults are injected.
	full bool
	// only is a part of the names of the faults that are injected.
	only string
	// seed draws the moments at which some faults come.
	seed uint64
	// local says that the cluster's processes and network are on this host, so that
	// they can be stopped and cut.
	local bool
	// slots are for the faults that are injected at once.
	slots chan struct{}
	*told
}

// told is what was told so far.
type told struct {
	mu      sync.Mutex
	lines   []fault.Line
	details []string
}

// newCampaign is one that tells its summary when the test is over.
func newCampaign(t *testing.T) *campaign {
	c := &campaign{t: t, local: cluster.Env("CLUSTER", "local") == "local", slots: make(chan struct{}, singlesAtOnce), told: &told{}}
	t.Cleanup(c.summarize)
	return c
}

// in is the campaign within a test of its own, which fails with the faults in it.
func (c *campaign) in(t *testing.T) *campaign {
	part := *c
	part.t = t
	return &part
}

// takes says whether a fault of that name is injected.
func (c *campaign) takes(name string) bool { return strings.Contains(name, c.only) }

// tell prints the line of a fault; a problem fails the test, and its details come
// after the last line.
func (c *campaign) tell(line fault.Line, detail string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Println(line)
	c.lines = append(c.lines, line)
	if !line.OK() {
		c.t.Fail()
		c.details = append(c.details, line.String()+"\n"+detail)
	}
}

func (c *campaign) summarize() {
	for _, d := range c.details {
		fmt.Println("\n" + d)
	}
	fmt.Println(fault.Summary(c.lines))
	busy, of := fault.Excused(c.lines)
	cluster.Suites.Note(c.t.Name(), busy, of)
	if n, least := len(c.lines), c.least(); n < least {
		c.t.Errorf("%d faults were injected, want %d at least", n, least)
	}
}

// least is how many faults there must be, so that a suite that skips most of them does
// not pass.
func (c *campaign) least() int {
	switch {
	case c.only != "", cluster.IsPart():
		return 1
	case c.full && c.local:
		return 200
	case c.local:
		return 40
	}
	return 20
}

// namespace makes a namespace that goes away after the test.
func (c *campaign) namespace(ctx context.Context) (string, error) {
	ns, err := cluster.NewNamespace(ctx, "faults-")
	if err != nil {
		return "", err
	}
	c.t.Cleanup(func() {
		if err := cluster.API.Delete(context.Background(), ns); err != nil {
			c.t.Errorf("delete namespace: %v", err)
		}
	})
	return ns.Name, nil
}

//go:build e2e

package abuse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/flood"
)

// workerLabel is what a pod needs so that the operator's NetworkPolicy lets it through. A
// tenant may give it to any pod.
var workerLabel = map[string]string{cluster.RunLabel: "hostile"}

// wireAbuses attack the coordinator from a pod, all at once, while another team has a run.
func wireAbuses() []abuse {
	all := []abuse{
		{"1,500 connections that say nothing", coordinator, "counted as stranger", attacks("idle", "stranger")},
		{"100 connections with half a handshake", coordinator, "ended", attacks("half a handshake", "")},
		{"100 connections that say nothing after the handshake", coordinator, "ended", attacks("after a handshake", "")},
		{"sessions with one junk token after another", coordinator, "counted as unverified", attacks("junk tokens", "unverified")},
		{"messages of 16 MiB in a session of one's own", coordinator, "larger than max", attacks("giant message", "")},
		{"hellos of 16 MiB", coordinator, "larger than max", attacks("giant hello", "")},
	}
	for _, name := range slices.Sorted(maps.Keys(flood.All())) {
		all = append(all, abuse{"HTTP/2 without a session, without end: " + name, coordinator, "counted as flood", attacks("flood of "+name, "flood")})
	}
	if cluster.Enforced() {
		all = append(all, abuse{"the coordinator, from a pod without a worker's label", network, "i/o timeout", fromNoWorker})
	}
	return all
}

// onslaught is what came of all attacks of one pod on the coordinator.
type onslaught struct {
	once sync.Once
	done bool

	tallies       map[string]tally
	before, after operatorHealth
	// harm is what another's run or the operator suffered.
	harm string
}

// attacks says what came of one kind of attack. The coordinator counts what it ends by
// the reason, if one is named.
func attacks(kind, reason string) func(*testing.T, *people) attempt {
	return func(t *testing.T, p *people) attempt {
		t.Helper()
		o := &p.onslaught
		o.once.Do(func() { o.carryOut(t) })
		n := o.tallies[kind]
		counted := o.after.rejected(reason) - o.before.rejected(reason)
		switch {
		case !o.done:
			t.Fatal("the attacks were not carried out")
		case o.harm != "":
			return succeeded("%s", o.harm)
		case n.Kept > 0:
			return succeeded("%d of %d connections were kept, with up to %d KiB", n.Kept, n.Tried, n.Most>>10)
		case n.Ended == 0:
			t.Fatalf("none was ended of %+v", n)
		case reason != "" && counted < float64(kindsCountedAs(reason)):
			return succeeded("%d connections were ended, and %v counted as %s", n.Ended, counted, reason)
		}
		words := fmt.Sprintf("%d of %d ended, after %d KiB at most (%s)", n.Ended, n.Tried, n.Most>>10, n.Said)
		if reason != "" {
			words += fmt.Sprintf("; %.0f counted as %s", counted, reason)
		}
		return refused(coordinator, words)
	}
}

// kindsCountedAs is how many kinds of attack have that reason: each was ended at least once.
func kindsCountedAs(reason string) (n int) {
	for _, a := range wireAbuses() {
		if strings.HasSuffix(a.words, "counted as "+reason) {
			n++
		}
	}
	return n
}

const (
	// moreUnderAttack is what the operator may hold more: 1,024 connections without a session
	// have 50 KB each and may have sent 96 KiB, and messages on their way 64 MB.
	moreUnderAttack = 250e6
)

// carryOut attacks from a pod while another team has a run.
func (o *onslaught) carryOut(t *testing.T) {
	t.Helper()
	b, tn := newOthersRun(t), newTenant(t)
	leading := cluster.NewScraper(t, tn.namespace)
	if _, err := cluster.StartCounterNamed(t.Context(), tn.namespace, "", "api"); err != nil {
		t.Fatal(err)
	}
	environment := map[string]string{
		"COORDINATOR": tn.workersEnv(t, "LOADTEST_COORDINATOR"), "CA": tn.workersEnv(t, "LOADTEST_COORDINATOR_CA"),
		"TOKEN": tn.workersToken(t), "RUN": tn.uid(t),
	}
	o.before = healthOf(t, leading)
	pod := tn.hostilePod(t, "hostile", workerLabel, environment)
	o.await(t, tn, func(n tally) bool { return n.Tried > 0 })
	o.harm = b.suffered(t, b.begin(t, "attacked"))
	o.await(t, tn, func(n tally) bool { return n.Ended+n.Kept > 0 })
	o.after = healthOf(t, leading)
	if o.harm == "" {
		o.harm = o.after.since(o.before, moreUnderAttack)
	}
	remove(t, pod)
	o.done = true
}

// await reads what became of the attacks until it holds for each kind.
func (o *onslaught) await(t *testing.T, tn *tenant, holds func(tally) bool) {
	t.Helper()
	cluster.Soon(t, func(ctx context.Context) (err error) {
		if o.tallies, err = tn.tallies(ctx, "hostile"); err != nil {
			return err
		}
		var not []string
		for kind, n := range o.tallies {
			if !holds(n) {
				not = append(not, fmt.Sprintf("%s: %+v", kind, n))
			}
		}
		if len(not) > 0 {
			return fmt.Errorf("nothing came of %s", strings.Join(not, ", "))
		}
		if got, want := len(o.tallies), len(flood.All())+6; got < want {
			return fmt.Errorf("there are %d kinds of attack, want %d", got, want)
		}
		return nil
	})
}

// fromNoWorker attacks from a pod that the NetworkPolicy is to keep away.
func fromNoWorker(t *testing.T, p *people) attempt {
	tn := p.attacker
	pod := tn.hostilePod(t, tn.name(), nil, map[string]string{"COORDINATOR": tn.workersEnv(t, "LOADTEST_COORDINATOR"), "CA": tn.workersEnv(t, "LOADTEST_COORDINATOR_CA")})
	defer remove(t, pod)
	var n tally
	cluster.Soon(t, func(ctx context.Context) error {
		all, err := tn.tallies(ctx, pod.Name)
		if n = all["half a handshake"]; err == nil && n.Unreached+n.Ended+n.Kept == 0 {
			err = fmt.Errorf("nothing came of %+v", n)
		}
		return err
	})
	if n.Ended+n.Kept > 0 {
		return succeeded("%d connections came through", n.Ended+n.Kept)
	}
	return refused(network, n.Said)
}

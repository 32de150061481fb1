package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
)

const (
	// connections of all generators.
	connections = 64
	// unreachable is a rate that no generator reaches on one core.
	unreachable = 1_000_000
	// inFlight is how many requests the memory is measured with.
	inFlight = 10_000
	// holdFor is how long each is held: longer than any generator takes to send
	// them all.
	holdFor = 10 * time.Second
)

// Names of rows that ratios are made of.
const (
	ourUsers = "loadworker, users"
	ourRate  = "loadworker, rate"
)

// required are the peers without which there is no last line.
var required = []string{"wrk", "vegeta", "k6"}

// benchWorker measures what a request and a user cost.
func benchWorker(ctx context.Context, b *bench) (string, error) {
	d := b.length(4 * time.Second)
	found, missing, err := b.findPeers(ctx)
	if err != nil {
		return "", err
	}
	plain := []contender{
		b.ours(ourUsers, false, closedUsers(connections, d)),
		b.ours(ourRate, false, arrivals(unreachable, d), "-max-connections", fmt.Sprint(connections)),
	}
	secure := []contender{
		b.ours(ourUsers, true, closedUsers(connections, d)),
		b.ours(ourRate, true, arrivals(unreachable, d), "-max-connections", fmt.Sprint(connections)),
	}
	for _, f := range found {
		plain = append(plain, b.theirs(f.peer, f.path, false, connections, d))
		if f.peer.Name == "vegeta" || f.peer.Name == "k6" {
			secure = append(secure, b.theirs(f.peer, f.path, true, connections, d))
		}
	}
	results, err := b.inRounds(ctx, slices.Concat(plain, secure))
	if err != nil {
		return "", err
	}
	memory, err := b.memory(ctx, found)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(b.out, "One core for the generator, one for the server, %d connections, %v, median of %d rounds.\n"+
		"All counts are the server's.\n\n", connections, d, b.rounds)
	b.writeRates(plain, secure, results)
	b.writeMemory(memory)
	if names := disturbed(results); len(names) > 0 {
		fmt.Fprintf(b.out, "\nDo not trust this run: something else kept cores busy, since neither generator nor server had its own with %s.\n",
			strings.Join(names, ", "))
	}
	for _, m := range missing {
		fmt.Fprintf(b.out, "\nNot measured: %s\n", m)
	}
	return lastLine(results, memory), nil
}

// foundPeer is a peer that can be started.
type foundPeer struct {
	peer peer.Peer
	path string
}

// findPeers finds the peers; missing says which cannot be had, and why.
func (b *bench) findPeers(ctx context.Context) (found []foundPeer, missing []string, err error) {
	for _, p := range peer.All {
		path, err := b.peers.Find(ctx, p)
		switch {
		case err == nil:
			found = append(found, foundPeer{p, path})
		case slices.Contains(required, p.Name):
			return nil, nil, fmt.Errorf("the ratios need %s: %w", p.Name, err)
		default:
			missing = append(missing, fmt.Sprintf("%s %s (%v)", p.Name, p.Version, err))
		}
	}
	return found, missing, ctx.Err()
}

// key tells results apart: a name occurs plain and over TLS.
type key struct {
	name string
	tls  bool
}

func (c contender) key() key { return key{c.name, c.tls} }

// inRounds measures all contenders in turn, several times, so that what changes
// on the machine meanwhile meets all alike.
func (b *bench) inRounds(ctx context.Context, list []contender) (map[key][]sample, error) {
	results := map[key][]sample{}
	for round := range b.rounds {
		for _, c := range list {
			s, err := b.measure(ctx, c)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(b.log, "round %d: %-18s tls=%-5v %8.0f/s %6.2f us\n", round+1, c.name, c.tls, s.rate(), s.generatorCost())
			results[c.key()] = append(results[c.key()], s)
		}
	}
	return results, nil
}

// memory measures generators with many requests in flight.
func (b *bench) memory(ctx context.Context, found []foundPeer) (map[string][]sample, error) {
	list := []contender{b.ours(ourUsers, false, burst(inFlight), "-open-for", "1m")}
	for _, f := range found {
		if f.peer.Name == "wrk" || f.peer.Name == "vegeta" {
			list = append(list, b.theirs(f.peer, f.path, false, inFlight, holdFor))
		}
	}
	results := map[string][]sample{}
	for _, c := range list {
		s, err := b.measure(ctx, c, "-d", holdFor.String())
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(b.log, "memory: %-18s %6d in flight %7.1f MB\n", c.name, s.counters.PeakInFlight, s.megabytes())
		results[c.name] = append(results[c.name], s)
	}
	return results, nil
}

func (b *bench) writeRates(plain, secure []contender, results map[key][]sample) {
	t := newTable("generator", "over", "req/s (min..max)", "x wrk", "x vegeta", "x k6", "CPU us/req", "cores", "server us/req", "server cores", "RSS MB", "connections")
	for _, c := range slices.Concat(plain, secure) {
		list := results[c.key()]
		rates := column(list, sample.rate)
		over := "TCP"
		if c.tls {
			over = "TLS"
		}
		t.row(c.name, over,
			fmt.Sprintf("%.0f (%.0f..%.0f)", median(rates), slices.Min(rates), slices.Max(rates)),
			against(results, rates, key{"wrk", c.tls}), against(results, rates, key{"vegeta", c.tls}), against(results, rates, key{"k6", c.tls}),
			digits(median(column(list, sample.generatorCost)), 2), digits(median(column(list, sample.generatorCores)), 2),
			digits(median(column(list, sample.serverCost)), 2), digits(median(column(list, sample.serverCores)), 2),
			digits(median(column(list, sample.megabytes)), 1),
			digits(median(column(list, func(s sample) float64 { return float64(s.counters.Connections) })), 0))
	}
	t.write(b.out)
}

// against is a ratio to another contender, empty if that was not measured.
func against(results map[key][]sample, rates []float64, other key) string {
	list, ok := results[other]
	if !ok {
		return ""
	}
	return digits(ratio(rates, column(list, sample.rate)), 2)
}

func (b *bench) writeMemory(results map[string][]sample) {
	fmt.Fprintf(b.out, "\n%d connections, each response held for %v:\n\n", inFlight, holdFor)
	t := newTable("generator", "in flight", "RSS MB", "KB per request in flight")
	for _, name := range []string{ourUsers, "wrk", "vegeta"} {
		for _, s := range results[name] {
			t.row(name, s.counters.PeakInFlight, digits(s.megabytes(), 1), digits(s.perInFlight(), 1))
		}
	}
	t.write(b.out)
}

func lastLine(results map[key][]sample, memory map[string][]sample) string {
	rates := func(name string) []float64 { return column(results[key{name, false}], sample.rate) }
	fields := []string{"bench-worker:"}
	for _, name := range required {
		fields = append(fields, fmt.Sprintf("users-vs-%s=%.2f", name, ratio(rates(ourUsers), rates(name))))
	}
	for _, name := range []string{"vegeta", "wrk"} {
		fields = append(fields, fmt.Sprintf("rate-vs-%s=%.2f", name, ratio(rates(ourRate), rates(name))))
	}
	kb := median(column(memory[ourUsers], sample.perInFlight))
	return strings.Join(append(fields, fmt.Sprintf("kb-per-inflight=%.1f", kb)), " ")
}

// busy is how much of a core something has that has it for itself; the start of
// a program and its end take the rest.
const busy = 0.85

// disturbed are the contenders that were held up by neither themselves nor the
// server.
func disturbed(results map[key][]sample) (names []string) {
	for k, list := range results {
		if max(median(column(list, sample.generatorCores)), median(column(list, sample.serverCores))) >= busy {
			continue
		}
		name := k.name
		if k.tls {
			name += " over TLS"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

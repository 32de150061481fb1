package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
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
	// of so many connections with so many streams each
	our16    = "loadworker, 4 x 16"
	h2load16 = "h2load, 4 x 16"
	ghz16    = "ghz, 4 x 16"
	fastGHZ  = "ghz, no templates"
	our100   = "loadworker, 100 x 100"

	fastGHZ16 = fastGHZ + ", 4 x 16"
)

// required are the peers without which there is no last line.
var required = []string{"wrk", "vegeta", "k6", "h2load", "ghz", fastGHZ}

// benchWorker measures what a request and a user cost.
func benchWorker(ctx context.Context, b *bench) (string, error) {
	d := b.length(4 * time.Second)
	found, missing, err := b.findPeers(ctx)
	if err != nil {
		return "", err
	}
	if b.call, err = b.writeCall(); err != nil {
		return "", err
	}
	list, held := b.contenders(found, d), b.holders(found)
	results, err := b.inRounds(ctx, list)
	if err != nil {
		return "", err
	}
	together, err := b.together(ctx, list)
	if err != nil {
		return "", err
	}
	memory, err := b.memory(ctx, held)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(b.out, "One core for the generator, one for the server, %d connections, %v, medians of %d rounds, and of their ratios.\n"+
		"The server is nginx over TLS and HTTP/2, grpc-go over gRPC. All counts are the server's, which answered every call with OK.\n"+
		"Over HTTP/2, all workers of vegeta share one of the connections that it opens; each user of k6 has its own.\n"+
		"Neither wrk nor vegeta makes calls of gRPC. ghz looks for templates in each message, unless told not to;\n"+
		"rows with variables are ours that fill a template for each call.\n\n", connections, d, b.rounds)
	b.writeRates(list, results)
	b.writeTogether(together)
	b.writeMemory(held, memory)
	if names := disturbed(results); len(names) > 0 {
		fmt.Fprintf(b.out, "\nDo not trust this run: something else kept cores busy, since neither generator nor server had its own with %s.\n",
			strings.Join(names, ", "))
	}
	for _, m := range missing {
		fmt.Fprintf(b.out, "\nNot measured: %s\n", m)
	}
	return lastLine(results, memory, together), nil
}

// contenders are the rows: of each protocol ours, and then the peers that are compared over it.
func (b *bench) contenders(found []foundPeer, d time.Duration) (list []contender) {
	for _, over := range protocols {
		list = append(list, b.ourLoads(over, d)...)
		for _, f := range found {
			if f.peer.Over(over) {
				list = append(list, b.theirs(f, over, connections, 1, d))
			}
			if f.peer.Streams(over) {
				list = append(list, b.theirs(f, over, connections/16, 16, d))
			}
		}
	}
	return list
}

// ourLoads are our worker as a closed loop, and at a rate: over HTTP/2 and gRPC with several
// streams for each connection.
func (b *bench) ourLoads(over protocol, d time.Duration) []contender {
	if over == overGRPC {
		return b.ourCalls(d)
	}
	users, rate := b.ours(ourUsers, over, harness.ClosedUsers(connections, d)), arrivals(unreachable, d)
	if over == overHTTP2 {
		return []contender{users, b.ourStreams(over, connections/16, 16, rate)}
	}
	return []contender{users, b.ours(ourRate, over, rate, "-max-connections", fmt.Sprint(connections))}
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

// key tells results apart: a name occurs over several protocols.
type key struct {
	name string
	over protocol
}

func (c contender) key() key { return key{c.name, c.over} }

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
			fmt.Fprintf(b.log, "round %d: %-29s %-6s %8.0f/s %6.2f us\n", round+1, c.name, c.over, s.rate(), s.generatorCost())
			results[c.key()] = append(results[c.key()], s)
		}
	}
	return results, nil
}

// holding are the peers whose memory is measured with a connection for each request in flight;
// over HTTP/2, vegeta cannot be told how many it has.
var holding = map[protocol][]string{overTCP: {"wrk", "vegeta"}, overTLS: {"wrk"}, overHTTP2: {"h2load"}}

// holders are the generators whose memory is measured with many requests in flight, each
// with a connection for a request and, over HTTP/2 and gRPC, with a hundred streams for each of
// a hundred connections.
func (b *bench) holders(found []foundPeer) (list []contender) {
	for _, over := range []protocol{overTCP, overTLS, overHTTP2} {
		list = append(list, b.ours(ourUsers, over, harness.Burst(inFlight, 1), "-open-for", "1m"))
		for _, f := range found {
			if slices.Contains(holding[over], f.peer.Name) {
				list = append(list, b.theirBurst(f, over, inFlight, 1))
			}
		}
	}
	for _, over := range []protocol{overHTTP2, overGRPC} {
		list = append(list, b.ourStreams(over, 100, 100, arrivals(inFlight, time.Second)))
		for _, f := range found {
			if f.peer.Streams(over) {
				list = append(list, b.theirBurst(f, over, 100, 100))
			}
		}
	}
	return list
}

// memory measures generators with many requests in flight.
func (b *bench) memory(ctx context.Context, list []contender) (map[key][]sample, error) {
	results := map[key][]sample{}
	for _, c := range list {
		s, err := b.measure(ctx, c, "-d", holdFor.String())
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(b.log, "memory: %-29s %-6s %6d in flight %7.1f MB\n", c.name, c.over, s.counters.PeakInFlight, s.megabytes())
		results[c.key()] = append(results[c.key()], s)
	}
	return results, nil
}

func (b *bench) writeRates(contenders []contender, results map[key][]sample) {
	t := newTable("generator", "over", "req/s (min..max)", "x wrk", "x vegeta", "x k6", "x h2load", "x ghz", "CPU us/req", "cores", "server us/req", "server cores", "RSS MB", "connections")
	for _, c := range contenders {
		list := results[c.key()]
		rates := column(list, sample.rate)
		t.row(c.name, c.over, spread(rates),
			against(results, rates, key{"wrk", c.over}), against(results, rates, key{"vegeta", c.over}),
			against(results, rates, key{"k6", c.over}), against(results, rates, key{"h2load", c.over}),
			against(results, rates, key{"ghz", c.over}),
			typical(list, sample.generatorCost, 2), typical(list, sample.generatorCores, 2),
			typical(list, sample.serverCost, 2), typical(list, sample.serverCores, 2), typical(list, sample.megabytes, 1),
			typical(list, func(s sample) float64 { return float64(s.counters.Connections) }, 0))
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

func (b *bench) writeMemory(list []contender, results map[key][]sample) {
	fmt.Fprintf(b.out, "\n%d requests, each response held for %v by the ground-truth server, or over gRPC by grpc-go:\n\n", inFlight, holdFor)
	t := newTable("generator", "over", "in flight", "connections", "RSS MB", "KB per request in flight")
	for _, c := range list {
		for _, s := range results[c.key()] {
			t.row(c.name, c.over, s.counters.PeakInFlight, s.counters.Connections, digits(s.megabytes(), 1), digits(s.perInFlight(), 1))
		}
	}
	t.write(b.out)
}

func lastLine(results, memory map[key][]sample, together map[pair][]float64) string {
	versus := func(ours, theirs string) float64 {
		return ratio(column(results[key{ours, overTCP}], sample.rate), column(results[key{theirs, overTCP}], sample.rate))
	}
	kb := func(name string, over protocol) float64 {
		return median(column(memory[key{name, over}], sample.perInFlight))
	}
	byCPU := func(ours, theirs string, over protocol) float64 { return median(together[pair{ours, theirs, over}]) }
	return fmt.Sprintf("bench-worker: users-vs-wrk=%.2f users-vs-vegeta=%.2f users-vs-k6=%.2f rate-vs-vegeta=%.2f rate-vs-wrk=%.2f "+
		"kb-per-inflight=%.1f tls-vs-wrk=%.2f kb-per-tls-connection=%.1f h2-vs-h2load-1=%.2f h2-vs-h2load-16=%.2f "+
		"kb-per-h2-connection=%.1f kb-per-h2-stream=%.1f grpc-vs-ghz-1=%.2f grpc-vs-ghz-16=%.2f "+
		"grpc-vs-ghz-no-templates-1=%.2f grpc-vs-ghz-no-templates-16=%.2f",
		versus(ourUsers, "wrk"), versus(ourUsers, "vegeta"), versus(ourUsers, "k6"),
		versus(ourRate, "vegeta"), versus(ourRate, "wrk"), kb(ourUsers, overTCP),
		byCPU(ourUsers, "wrk", overTLS), kb(ourUsers, overTLS), byCPU(ourUsers, "h2load", overHTTP2), byCPU(our16, h2load16, overHTTP2),
		kb(ourUsers, overHTTP2), kb(our100, overHTTP2), byCPU(ourUsers, "ghz", overGRPC), byCPU(our16, ghz16, overGRPC),
		byCPU(ourUsers, fastGHZ, overGRPC), byCPU(our16, fastGHZ16, overGRPC))
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
		names = append(names, fmt.Sprintf("%s over %s", k.name, k.over))
	}
	slices.Sort(names)
	return names
}

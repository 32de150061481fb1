package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// contender is a generator in one configuration.
type contender struct {
	name  string
	over  protocol
	drive func(ctx context.Context, s server) (process.Usage, error)
}

type protocol = peer.Protocol

const (
	overTCP   = peer.TCP
	overTLS   = peer.TLS
	overHTTP2 = peer.HTTP2
	overGRPC  = peer.GRPC
)

// protocols are all, in the order in which they are shown.
var protocols = []protocol{overTCP, overTLS, overHTTP2, overGRPC}

// spoken are the protocols in the words of the ground-truth server.
var spoken = map[protocol]groundtruth.Protocol{
	overTCP: groundtruth.HTTP1, overTLS: groundtruth.TLS, overHTTP2: groundtruth.HTTP2, overGRPC: groundtruth.H2C,
}

// wholeReply is one of 64 bytes in the words of the ground-truth server.
func wholeReply(over protocol) string {
	if over == overGRPC {
		return "grpc:0:64"
	}
	return "ok:64"
}

// speak has a LoadTest speak a protocol.
func speak(over protocol, lt *v1beta1.LoadTest) *v1beta1.LoadTest {
	if over == overHTTP2 || over == overGRPC {
		lt.Spec.Target.Protocol = v1beta1.ProtocolHTTP2
	}
	if over == overGRPC {
		lt.Spec.Target.GRPC = &v1beta1.TargetGRPC{DescriptorsFrom: &v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "bench", Key: "descriptors"}}}
		for i := range lt.Spec.Requests {
			lt.Spec.Requests[i] = v1beta1.Request{Name: "check", GRPC: &v1beta1.Call{
				Method: healthpb.Health_Check_FullMethodName[1:], Message: rawJSON(callMessage),
				Metadata: []v1beta1.Header{{Name: groundtruth.NumberHeader, Value: new("${seq}")}},
			}}
		}
	}
	return lt
}

// server is what a contender sends requests to.
type server interface {
	url() string
	// certificate is a file with the one to trust, "" without TLS.
	certificate() string
	// stop ends it and returns what it served and cost.
	stop() (groundtruth.Counters, process.Usage, error)
}

var (
	_ server = (*target)(nil)
	_ server = (*nginx)(nil)
)

// sample is one measurement of a contender.
type sample struct {
	counters  groundtruth.Counters
	generator process.Usage
	server    process.Usage
}

// rate is requests per second between the first and the last that the server
// saw: neither the start of a program nor its end counts.
func (s sample) rate() float64 {
	if s.span() <= 0 {
		return 0
	}
	return float64(s.counters.Requests-1) / s.span().Seconds()
}

func (s sample) span() time.Duration { return time.Duration(s.counters.Last - s.counters.First) }

// perRequest is processor time in microseconds.
func (s sample) perRequest(u process.Usage) float64 {
	if s.counters.Requests == 0 {
		return 0
	}
	return float64(u.CPU) / float64(time.Microsecond) / float64(s.counters.Requests)
}

// cores is how many were busy: a generator that had less than one was held up,
// by a server that had all of its own or by something else on the machine.
func (s sample) cores(u process.Usage) float64 {
	if s.span() <= 0 {
		return 0
	}
	return u.CPU.Seconds() / s.span().Seconds()
}

func (s sample) generatorCores() float64 { return s.cores(s.generator) }
func (s sample) serverCores() float64    { return s.cores(s.server) }
func (s sample) generatorCost() float64  { return s.perRequest(s.generator) }
func (s sample) serverCost() float64     { return s.perRequest(s.server) }
func (s sample) megabytes() float64      { return float64(s.generator.PeakRSS) / 1e6 }

// perCPU is requests for each second of the generator's processor time.
func (s sample) perCPU() float64 {
	if s.generator.CPU <= 0 {
		return 0
	}
	return float64(s.counters.Requests) / s.generator.CPU.Seconds()
}

// perInFlight is kilobytes of memory for each request in flight.
func (s sample) perInFlight() float64 {
	if s.counters.PeakInFlight == 0 {
		return 0
	}
	return float64(s.generator.PeakRSS) / 1024 / float64(s.counters.PeakInFlight)
}

// measure runs a contender against a server of its own.
func (b *bench) measure(ctx context.Context, c contender, serverArgs ...string) (s sample, err error) {
	return b.measureOn(ctx, c, func() (server, error) { return b.serverFor(ctx, c.over, serverArgs) })
}

// measureOn runs a contender against a server that is started for it.
func (b *bench) measureOn(ctx context.Context, c contender, start func() (server, error)) (s sample, err error) {
	at, err := start()
	if err != nil {
		return s, err
	}
	s.generator, err = c.drive(ctx, at)
	var stopped error
	if s.counters, s.server, stopped = at.stop(); err == nil {
		err = stopped
	}
	if err != nil {
		return s, fmt.Errorf("%s over %s: %w", c.name, c.over, err)
	}
	return s, ctx.Err()
}

// serverFor starts the server of a protocol; args are the ground-truth server's, which
// serves over TLS, too, if there are any, or those of the server of calls.
func (b *bench) serverFor(ctx context.Context, over protocol, args []string) (server, error) {
	if over == overGRPC {
		return b.serveCalls(args...)
	}
	if over != overTCP && len(args) == 0 {
		return b.serveNginx(ctx, over)
	}
	return b.serve(serverCore, append(args, "-protocol", string(spoken[over]))...)
}

// ours is our worker with one step.
func (b *bench) ours(name string, over protocol, s v1beta1.Step, args ...string) contender {
	return b.oursTo(name, over, func(url string) *v1beta1.LoadTest { return speak(over, loadTest(url, 1, s)) }, args...)
}

// ourStreams is a rate over a number of HTTP/2 connections with so many streams each.
func (b *bench) ourStreams(over protocol, connections, streams int32, s v1beta1.Step) contender {
	name := fmt.Sprintf("loadworker, %d x %d", connections, streams)
	return b.oursTo(name, over, overStreams(over, connections, streams, s), "-max-connections", fmt.Sprint(connections*streams))
}

// overStreams makes LoadTests with a number of HTTP/2 connections of so many streams each.
func overStreams(over protocol, connections, streams int32, s v1beta1.Step) func(url string) *v1beta1.LoadTest {
	return func(url string) *v1beta1.LoadTest {
		lt := speak(over, loadTest(url, 1, s))
		lt.Spec.Target.HTTP2 = &v1beta1.HTTP2{Connections: &connections, StreamsPerConnection: &streams}
		return lt
	}
}

// oursTo is our worker with a LoadTest of a server.
func (b *bench) oursTo(name string, over protocol, test func(url string) *v1beta1.LoadTest, args ...string) contender {
	return contender{name: name, over: over, drive: func(_ context.Context, at server) (process.Usage, error) {
		w, err := b.startWorker(test(at.url()), 0, generatorCore, at.certificate(), args...)
		if err != nil {
			return process.Usage{}, err
		}
		c := crew{w}
		if err := c.ready(); err != nil {
			return process.Usage{}, err
		}
		if _, _, err := c.run(0); err != nil {
			return process.Usage{}, err
		}
		return c.stop()
	}}
}

// theirs is a peer as a closed loop over connections of so many streams each.
func (b *bench) theirs(f foundPeer, over protocol, connections, streams int, d time.Duration) contender {
	return b.theirLoad(f, over, peer.Load{Connections: connections, Streams: streams, Seconds: int(d / time.Second)})
}

// theirBurst is a peer with a request on each stream of its connections, if it can do so,
// or else a closed loop that ends with the first responses.
func (b *bench) theirBurst(f foundPeer, over protocol, connections, streams int) contender {
	return b.theirLoad(f, over, peer.Load{Connections: connections, Streams: streams, Seconds: int(holdFor / time.Second), Requests: connections * streams})
}

func (b *bench) theirLoad(f foundPeer, over protocol, l peer.Load) contender {
	name := f.peer.Name
	if l.Streams > 1 {
		name = fmt.Sprintf("%s, %d x %d", name, l.Connections, l.Streams)
	}
	return contender{name: name, over: over, drive: func(ctx context.Context, at server) (process.Usage, error) {
		l.URL, l.Call = at.url(), b.call
		i, err := f.peer.Closed(over, l)
		if err != nil {
			return process.Usage{}, err
		}
		return b.invoke(ctx, f.path, i, at.certificate())
	}}
}

// invoke runs a peer to its end.
func (b *bench) invoke(ctx context.Context, path string, i peer.Invocation, certificate string) (process.Usage, error) {
	args := i.Args
	if i.Script != "" {
		script := b.path("script.js")
		if err := os.WriteFile(script, []byte(i.Script), 0o600); err != nil {
			return process.Usage{}, err
		}
		args = append(args, script)
	}
	p, err := process.Start(process.Command{
		Path: path, Args: args, Env: trust(certificate), Core: generatorCore,
		Stdin: strings.NewReader(i.Stdin), Stdout: io.Discard,
	})
	if err != nil {
		return process.Usage{}, err
	}
	defer context.AfterFunc(ctx, p.Kill)()
	return p.Wait()
}

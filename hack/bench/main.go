package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
)

const usage = `Usage: bench worker|change|accuracy|scale|targets|replay|operator|start|shop|streams|tokens|peers [flags]

Flags:
`

// bench is what all benchmarks need.
type bench struct {
	options
	root   string     // of the repository
	driver string     // the program that is our worker
	work   string     // a folder for programs and files of this run
	call   *peer.Call // what peers call
	peers  peer.Store
	out    io.Writer // the report
	log    io.Writer // what is going on
}

type options struct {
	rounds   int
	duration time.Duration
	users    int64
	finished int
	running  int
	waiting  int
	streams  int
	record   bool
	speed    int
	full     bool
	before   string
	over     protocol
}

// benchmarks by name; each returns its last line.
var benchmarks = map[string]func(context.Context, *bench) (string, error){
	"worker":   benchWorker,
	"change":   benchChange,
	"accuracy": benchAccuracy,
	"scale":    benchScale,
	"targets":  benchTargets,
	"replay":   benchReplay,
	"operator": benchOperator,
	"start":    benchStart,
	"shop":     benchShop,
	"streams":  benchStreams,
	"tokens":   benchTokens,
	"peers":    benchPeers,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	name, o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if runtime.NumCPU() < 2 {
		return errors.New("needs two cores: one for the generator, one for the server")
	}
	b := &bench{options: o, driver: "driver", log: stderr}
	if b.work, err = os.MkdirTemp("", "loadtest-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.work) }()
	if err := b.build(ctx); err != nil {
		return err
	}
	var report strings.Builder
	b.out = io.MultiWriter(stdout, &report)
	last, err := benchmarks[name](ctx, b)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n%s\n", last)
	if !b.record {
		return nil
	}
	return b.write(ctx, name, args, report.String())
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (name string, o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.IntVar(&o.rounds, "rounds", 3, "how `often` each is measured; the median counts")
	flags.DurationVar(&o.duration, "duration", 0, "how `long` a measurement takes (default what the benchmark needs, from 4s to 30s)")
	flags.Int64Var(&o.users, "users", 100_000, "how `many` users scale has")
	flags.IntVar(&o.finished, "finished", 1000, "how `many` LoadTests have finished that operator has beside those that run")
	flags.IntVar(&o.running, "running", 50, "how `many` LoadTests operator has run at once")
	flags.IntVar(&o.waiting, "waiting", 1000, "beside how `many` LoadTests that wait, and as many schedules, start has the operator start")
	flags.IntVar(&o.streams, "streams", 1000, "how `many` streams are open at once in streams beside other generators; ten times as many with the worker alone")
	flags.BoolVar(&o.full, "full", false, "have replay send 10 million requests in 10 minutes")
	flags.IntVar(&o.speed, "speed", 0, "the only `speed` at which replay replays (default 1, and 5)")
	flags.BoolVar(&o.record, "record", false, "write the output to docs/results as well")
	flags.StringVar(&o.before, "before", "", "the `commit` with whose worker change compares this one")
	flags.StringVar((*string)(&o.over), "over", "", "the only `protocol` that change measures: TCP, TLS, HTTP/2 or gRPC (default all)")
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return "", o, err
	}
	switch {
	case benchmarks[name] == nil:
		flags.Usage()
		return "", o, fmt.Errorf("%q is not worker, change, accuracy, scale, targets, replay, operator, start, shop, streams, tokens or peers", name)
	case flags.NArg() > 0:
		return "", o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return name, o, o.check()
}

func (o *options) check() error {
	switch {
	case o.rounds < 1 || o.users < 1 || o.finished < 1 || o.running < 1 || o.waiting < 1 || o.streams < 1:
		return errors.New("--rounds, --users, --finished, --running, --waiting and --streams must be positive")
	case o.over != "" && !slices.Contains(protocols, o.over):
		return fmt.Errorf("--over %s must be one of %v", o.over, protocols)
	case o.speed < 0 || o.speed > maxSpeed:
		return fmt.Errorf("--speed must be 1 to %d", maxSpeed)
	case o.duration < 0 || o.duration%time.Second != 0:
		return errors.New("--duration must be whole seconds")
	}
	return nil
}

// build finds the repository and builds what is ours.
func (b *bench) build(ctx context.Context) error {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	b.root = filepath.Dir(strings.TrimSpace(string(mod)))
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	b.peers = peer.Store{
		Modules: filepath.Join(b.root, "hack", "bench", "peers"),
		Cache:   filepath.Join(cache, "loadtest-operator", "bench"),
		Log:     b.log,
	}
	if err := os.MkdirAll(b.peers.Cache, 0o755); err != nil {
		return err
	}
	for name, folder := range map[string]string{
		"groundtruth": "./test/groundtruth/cmd/groundtruth", "driver": "./test/driver", "waker": "./hack/bench/waker", "calls": "./hack/bench/calls",
		"shop": "./hack/bench/shop", "sender": "./hack/bench/sender",
	} {
		if err := b.compile(ctx, name, folder, "build"); err != nil {
			return err
		}
	}
	return nil
}

// compile makes a program of the code in a folder by a command of go.
func (b *bench) compile(ctx context.Context, name, folder string, command ...string) error {
	c := exec.CommandContext(ctx, "go", append(command, "-trimpath", "-buildvcs=false", "-o", b.path(name), folder)...)
	c.Dir = b.root
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", name, err, out)
	}
	return nil
}

// path is that of a program, or another file of this run.
func (b *bench) path(name string) string { return filepath.Join(b.work, name) }

// length is that of a measurement.
func (b *bench) length(usual time.Duration) time.Duration {
	if b.duration > 0 {
		return b.duration
	}
	return usual
}

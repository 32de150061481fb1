package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/build"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/cluster"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

// command is one of the program's commands.
type command struct {
	name, args, summary string
	// root is true of commands that change the host, one at a time.
	root bool
	run  func(context.Context, *options) error
}

// options are the flags of all commands, and the arguments after them.
type options struct {
	state, source, path string
	install, onlyPath   bool
	limit               time.Duration
	args                []string
	cluster             cluster.Cluster
}

var commands []command

// init and not a literal, because help refers to the commands.
func init() {
	commands = []command{
		{"build", "", "compile the components, unless that has been done (5 to 10 minutes)", false, buildCommand},
		{"assets", "", "print the folder of the components, for KUBEBUILDER_ASSETS; builds if needed", false, assetsCommand},
		{"up", "", "start the cluster and wait until its nodes are ready; builds if needed", true, upCommand},
		{"down", "", "stop the cluster and leave nothing behind", true, downCommand},
		{"status", "", "list components and nodes; exit code 1 if the cluster does not run", false, statusCommand},
		{"load", "IMAGE.tar...", "import image archives (docker save, OCI) into the nodes", true, loadCommand},
		{"kubeconfig", "", "print the administrator's kubeconfig, or with --path where it is", false, kubeconfigCommand},
		{"node", "stop|start N", "cut a node's power, or give it back", true, nodeCommand},
	}
}

const help = `cluster runs Kubernetes %s with three nodes on this host, without Docker or a registry.

Usage: cluster COMMAND [FLAGS] [ARGUMENTS]

%s
A first cluster, as root:
  cluster up --install
  export KUBECONFIG=$(cluster kubeconfig --path) PATH=$(cluster assets):$PATH
  kubectl get nodes
  cluster load my-image.tar    # use it with imagePullPolicy IfNotPresent
  cluster node stop 2          # and watch the cluster cope
  cluster down

Builds are kept in $LOADTEST_CACHE (default ~/.cache/loadtest-operator), the
cluster's state and logs in %s (--state-dir).
See cluster COMMAND --help for the flags.
`

func printHelp(w io.Writer) {
	var list string
	for _, c := range commands {
		list += fmt.Sprintf("  %-10s %-13s %s\n", c.name, c.args, c.summary)
	}
	fmt.Fprintf(w, help, "from source", list, layout.DefaultState)
}

// start parses the flags, checks the host where that matters, and runs.
func (c command) start(ctx context.Context, args []string) error {
	o := &options{}
	flags := flag.NewFlagSet("cluster "+c.name, flag.ContinueOnError)
	flags.SetOutput(os.Stdout)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "cluster %s [FLAGS] %s\n  %s\n\nFlags:\n", c.name, c.args, c.summary)
		flags.PrintDefaults()
	}
	o.register(flags, c.name)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usageError{err}
	}
	o.args = flags.Args()
	if c.args == "" && len(o.args) > 0 {
		return usagef("cluster %s takes no argument, got %q", c.name, o.args)
	}
	state, err := filepath.Abs(o.state)
	if err != nil {
		return usageError{err}
	}
	o.cluster = cluster.Cluster{Layout: layout.New(state), Say: say}
	if !c.root {
		return c.run(ctx, o)
	}
	if err := host.Privileged(); err != nil {
		return err
	}
	release, err := host.Acquire(layout.Lock)
	if err != nil {
		return err
	}
	defer release()
	return c.run(ctx, o)
}

// register adds the flags that the command has.
func (o *options) register(flags *flag.FlagSet, name string) {
	flags.StringVar(&o.state, "state-dir", layout.DefaultState, "`folder` of the cluster's state")
	switch name {
	case "build", "assets", "up":
		flags.StringVar(&o.source, "source", "", "`folder` of the components' module (default: found in the repository)")
	}
	switch name {
	case "up":
		flags.BoolVar(&o.install, "install", false, "install missing Debian packages with apt-get")
		flags.DurationVar(&o.limit, "timeout", 3*time.Minute, "how long the nodes may take to be ready, without the build")
	case "node":
		flags.DurationVar(&o.limit, "timeout", time.Minute, "how long the node may take to be ready")
	case "kubeconfig":
		flags.BoolVar(&o.onlyPath, "path", false, "print where the kubeconfig is, not what is in it")
		flags.StringVar(&o.path, "write", "", "write it to this `file` instead")
	}
}

func buildCommand(ctx context.Context, o *options) error {
	folder, err := o.build(ctx)
	if err != nil {
		return err
	}
	say("the components are in %s", folder)
	return nil
}

func assetsCommand(ctx context.Context, o *options) error {
	folder, err := o.build(ctx)
	if err != nil {
		return err
	}
	fmt.Println(folder)
	return nil
}

func (o *options) build(ctx context.Context) (string, error) {
	source := o.source
	if source == "" {
		found, err := build.FindSource(".")
		if err != nil {
			return "", err
		}
		source = found
	}
	cache, err := build.DefaultCache()
	if err != nil {
		return "", err
	}
	return build.Builder{Source: source, Cache: cache, Progress: progress()}.Build(ctx)
}

func upCommand(ctx context.Context, o *options) error {
	if err := o.programs(ctx); err != nil {
		return err
	}
	begun := time.Now()
	folder, err := o.build(ctx)
	if err != nil {
		return err
	}
	if built := time.Since(begun); built > time.Minute {
		say("built in %s", built.Round(time.Second))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.limit, fmt.Errorf("not done within %s (--timeout)", o.limit))
	defer cancel()
	begun = time.Now()
	if err := o.cluster.Up(ctx, folder, begun); err != nil {
		return err
	}
	say("the cluster is up (%s); KUBECONFIG=%s", time.Since(begun).Round(100*time.Millisecond), o.cluster.Layout.Admin())
	return nil
}

// programs checks what the cluster needs of the host, and installs it if told to.
func (o *options) programs(ctx context.Context) error {
	err := host.CheckPrograms()
	var lack host.MissingError
	if !o.install || !errors.As(err, &lack) {
		return err
	}
	say("installing %q", lack.Packages)
	if err := host.Install(ctx, lack.Packages, os.Stderr); err != nil {
		return err
	}
	return host.CheckPrograms()
}

func downCommand(_ context.Context, o *options) error {
	if err := o.cluster.Down(); err != nil {
		return err
	}
	say("the cluster is down; nothing of it is left")
	return nil
}

func statusCommand(ctx context.Context, o *options) error {
	rows, err := o.cluster.Status(ctx)
	if err != nil && !errors.Is(err, cluster.ErrDown) {
		return err
	}
	return errors.Join(cluster.Print(os.Stdout, rows), err)
}

func loadCommand(ctx context.Context, o *options) error {
	if len(o.args) == 0 {
		return usagef("which archives? cluster load IMAGE.tar...")
	}
	if err := o.cluster.Running(ctx); err != nil {
		return err
	}
	return o.cluster.Load(ctx, o.args...)
}

func kubeconfigCommand(_ context.Context, o *options) error {
	content, err := o.cluster.Kubeconfig()
	if err != nil {
		return err
	}
	switch {
	case o.onlyPath:
		fmt.Println(o.cluster.Layout.Admin())
	case o.path != "":
		return os.WriteFile(o.path, content, 0o600)
	default:
		os.Stdout.Write(content)
	}
	return nil
}

func nodeCommand(ctx context.Context, o *options) error {
	if len(o.args) != 2 {
		return usagef("cluster node stop N, or cluster node start N, with N from 1 to %d", layout.Nodes)
	}
	n, err := layout.NodeNumber(o.args[1])
	if err != nil {
		return usageError{err}
	}
	if err := o.cluster.Running(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.limit, fmt.Errorf("not done within %s (--timeout)", o.limit))
	defer cancel()
	switch o.args[0] {
	case "stop":
		return o.cluster.StopNode(n)
	case "start":
		return o.cluster.StartNode(ctx, n)
	}
	return usagef("cluster node %s: want stop or start", o.args[0])
}

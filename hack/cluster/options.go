package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/cluster"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

// access is the access to the host that a command needs.
type access int

const (
	// unprivileged is for every user.
	unprivileged access = iota
	// reads is for root, which may read the cluster's processes and secrets.
	reads
	// changes is for root as well, one command at a time.
	changes
)

// options are the flags of all commands, and the arguments after them.
type options struct {
	state, source, path string
	install, onlyPath   bool
	limit               time.Duration
	args                []string
	node                int // of the command node
	cluster             cluster.Cluster
}

// start parses the command line, checks the host where that matters, and runs.
func (c command) start(ctx context.Context, args []string) error {
	o, err := c.parse(args)
	if err != nil {
		return err
	}
	if err := o.check(c.name); err != nil {
		return err
	}
	if c.access == unprivileged {
		return c.run(ctx, o)
	}
	if err := host.Privileged(); err != nil {
		return err
	}
	if c.access == reads {
		return c.run(ctx, o)
	}
	release, err := host.Acquire(ctx, layout.Lock, func() { logf("waiting for another cluster command") })
	if err != nil {
		return err
	}
	defer release()
	return c.run(ctx, o)
}

func (c command) parse(args []string) (*options, error) {
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
			return nil, err
		}
		return nil, usageError{err}
	}
	o.args = flags.Args()
	state, err := filepath.Abs(o.state)
	if err != nil {
		return nil, usageError{err}
	}
	o.cluster = cluster.Cluster{Layout: layout.New(state), Logf: logf}
	return o, nil
}

// check refuses arguments that the command does not take.
func (o *options) check(name string) error {
	switch name {
	case "load":
		if len(o.args) == 0 {
			return usagef("which archives? cluster load IMAGE.tar...")
		}
	case "node":
		return o.checkNode()
	case "apiserver":
		if len(o.args) != 1 || o.args[0] != "stop" && o.args[0] != "start" {
			return usagef("cluster apiserver stop, or cluster apiserver start")
		}
	default:
		if len(o.args) > 0 {
			return usagef("cluster %s takes no argument, got %q", name, o.args)
		}
	}
	return nil
}

// checkNode reads "stop N" or "start N".
func (o *options) checkNode() error {
	if len(o.args) != 2 {
		return usagef("cluster node stop N, or cluster node start N, with N from 1 to %d", layout.Nodes)
	}
	n, err := layout.NodeNumber(o.args[1])
	if err != nil {
		return usageError{err}
	}
	if verb := o.args[0]; verb != "stop" && verb != "start" {
		return usagef("cluster node %s: want stop or start", verb)
	}
	o.node = n
	return nil
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
	case "apiserver":
		flags.DurationVar(&o.limit, "timeout", time.Minute, "how long the API server may take to serve")
	case "kubeconfig":
		flags.BoolVar(&o.onlyPath, "path", false, "print where the kubeconfig is, not what is in it")
		flags.StringVar(&o.path, "write", "", "write it to this `file` instead")
	}
}

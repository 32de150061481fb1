package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/build"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/cluster"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	components "github.com/loadtest-dev/loadtest-operator/hack/components/build"
)

// command is one of the program's commands.
type command struct {
	name, args, summary string
	access              access
	run                 func(context.Context, *options) error
}

var commands []command

// init and not a literal, because help refers to the commands.
func init() {
	commands = []command{
		{name: "build", summary: "compile the components, unless that has been done (5 to 10 minutes)", access: unprivileged, run: buildCommand},
		{name: "assets", summary: "print the folder of the components, for KUBEBUILDER_ASSETS; builds if needed", access: unprivileged, run: assetsCommand},
		{name: "up", summary: "start the cluster and wait until its nodes are ready; builds if needed", access: changes, run: upCommand},
		{name: "down", summary: "stop the cluster and leave nothing behind", access: changes, run: downCommand},
		{name: "status", summary: "list components and nodes; exit code 1 if the cluster does not run", access: reads, run: statusCommand},
		{name: "load", args: "IMAGE.tar...", summary: "import image archives (docker save, OCI) into the nodes", access: changes, run: loadCommand},
		{name: "kubeconfig", summary: "print the administrator's kubeconfig, or with --path where it is", access: reads, run: kubeconfigCommand},
		{name: "audit", summary: "list the files of the audit log: what the accounts of loadtest-system asked for", access: reads, run: auditCommand},
		{name: "node", args: "stop|start N", summary: "cut a node's power, or give it back", access: changes, run: nodeCommand},
		{name: "apiserver", args: "stop|start", summary: "kill the API server, or start it again", access: changes, run: apiServerCommand},
	}
}

const help = `cluster runs Kubernetes from source with three nodes on this host, without Docker
or an image registry.

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
	fmt.Fprintf(w, help, list, layout.DefaultState)
}

func buildCommand(ctx context.Context, o *options) error {
	folder, err := o.build(ctx)
	if err != nil {
		return err
	}
	logf("the components are in %s", folder)
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
	cache, err := components.DefaultCache()
	if err != nil {
		return "", err
	}
	builder, err := build.Kubernetes(source, cache, progress())
	if err != nil {
		return "", err
	}
	return builder.Build(ctx)
}

func upCommand(ctx context.Context, o *options) error {
	if err := o.cluster.Running(ctx); err == nil {
		return o.again(ctx)
	} else if !errors.Is(err, cluster.ErrDown) {
		return err
	}
	folder, err := o.prepare(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := o.limited(ctx)
	defer cancel()
	begun := time.Now()
	if err := o.cluster.Up(ctx, folder, begun); err != nil {
		return err
	}
	logf("the cluster is up after %s; KUBECONFIG=%s", time.Since(begun).Round(100*time.Millisecond), o.cluster.Layout.Admin())
	return nil
}

// prepare installs the missing programs, which waits for the network, while it builds the components. It
// returns the folder of these.
func (o *options) prepare(ctx context.Context) (folder string, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return o.programs(ctx) })
	group.Go(func() (err error) {
		folder, err = o.build(ctx)
		return err
	})
	err = group.Wait()
	return folder, err
}

// again is up on a cluster that runs.
func (o *options) again(ctx context.Context) error {
	ctx, cancel := o.limited(ctx)
	defer cancel()
	if err := o.cluster.StartStopped(ctx, time.Now()); err != nil {
		return err
	}
	logf("the cluster is up; KUBECONFIG=%s", o.cluster.Layout.Admin())
	return nil
}

func (o *options) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, o.limit, fmt.Errorf("not done within %s (--timeout)", o.limit))
}

// programs checks the programs that the cluster needs, and installs missing ones
// with --install.
func (o *options) programs(ctx context.Context) error {
	err := host.CheckPrograms()
	var lack host.MissingError
	if !o.install || !errors.As(err, &lack) {
		return err
	}
	logf("installing %q", lack.Packages)
	if err := host.Install(ctx, lack.Packages, os.Stderr); err != nil {
		return err
	}
	return host.CheckPrograms()
}

func downCommand(_ context.Context, o *options) error {
	if err := o.cluster.Down(); err != nil {
		return err
	}
	logf("the cluster is down; nothing of it is left")
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

func auditCommand(_ context.Context, o *options) error {
	files, err := o.cluster.Layout.AuditLogs()
	if err != nil {
		return err
	}
	for _, file := range files {
		fmt.Println(file)
	}
	return nil
}

func nodeCommand(ctx context.Context, o *options) error {
	if err := o.cluster.Running(ctx); err != nil {
		return err
	}
	if o.args[0] == "stop" {
		return o.cluster.StopNode(o.node)
	}
	ctx, cancel := o.limited(ctx)
	defer cancel()
	return o.cluster.StartNode(ctx, o.node, time.Now())
}

func apiServerCommand(ctx context.Context, o *options) error {
	if o.args[0] == "stop" {
		return o.cluster.StopAPIServer()
	}
	ctx, cancel := o.limited(ctx)
	defer cancel()
	return o.cluster.StartAPIServer(ctx)
}

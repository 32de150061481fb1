package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/controlplane"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/node"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/process"
)

// ErrDown is returned where a cluster is needed and none runs.
var ErrDown = errors.New("the cluster is not running: start it with cluster up")

// Cluster is the one on this host.
type Cluster struct {
	Layout layout.Layout
	// Logf tells the user what happens, one line per call.
	Logf func(format string, args ...any)
}

func (c Cluster) processes() process.Table { return process.Table{Owner: c.Layout.State} }

func (c Cluster) nodes(groups host.Cgroups) node.Nodes {
	return node.Nodes{Layout: c.Layout, Processes: c.processes(), Cgroups: groups}
}

func (c Cluster) controlPlane(groups host.Cgroups) controlplane.ControlPlane {
	return controlplane.ControlPlane{
		Layout: c.Layout, Processes: c.processes(), Cgroups: groups, Cgroup: node.Components,
	}
}

// Running returns ErrDown unless the control plane is complete and serves.
func (c Cluster) Running(ctx context.Context) error {
	leaders, err := c.processes().Leaders()
	if err != nil {
		return err
	}
	if !complete(leaders) {
		return ErrDown
	}
	client, err := controlplane.NewClient(c.Layout)
	if err != nil {
		return ErrDown
	}
	if err := client.Ready(ctx); err != nil {
		return fmt.Errorf("%w (the API server does not answer: %w)", ErrDown, err)
	}
	return nil
}

// complete is true if every process of the control plane runs.
func complete(leaders map[string]process.Process) bool {
	for _, name := range controlplane.Components {
		if _, ok := leaders[name]; !ok {
			return false
		}
	}
	return true
}

// runs is true if both processes of a node run.
func runs(leaders map[string]process.Process, n layout.Node) bool {
	_, containerd := leaders[n.Process(node.Containerd)]
	_, kubelet := leaders[n.Process(node.Kubelet)]
	return containerd && kubelet
}

// Kubeconfig returns the administrator's kubeconfig.
func (c Cluster) Kubeconfig() ([]byte, error) {
	content, err := os.ReadFile(c.Layout.Admin())
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrDown
	}
	return content, err
}

// own refuses to touch the cluster of another state folder: there is one set of
// addresses, control groups and firewall chains per host.
func (c Cluster) own() error {
	owner, err := os.ReadFile(c.Layout.Owner())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the owner of the cluster: %w", err)
	}
	if state := string(owner); state != c.Layout.State {
		return fmt.Errorf("the cluster on this host has its state in %s: use --state-dir %[1]s", state)
	}
	return nil
}

// claim makes the cluster on this host the one of our state folder.
func (c Cluster) claim() error {
	if err := os.MkdirAll(c.Layout.Run, 0o711); err != nil {
		return fmt.Errorf("make the run folder: %w", err)
	}
	if err := os.WriteFile(c.Layout.Owner(), []byte(c.Layout.State), 0o644); err != nil {
		return fmt.Errorf("claim the host: %w", err)
	}
	return nil
}

// link points the cluster's folder of binaries to the one that was built.
func (c Cluster) link(binaries string) error {
	if err := os.MkdirAll(filepath.Dir(c.Layout.Binaries()), 0o755); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	if err := os.Symlink(binaries, c.Layout.Binaries()); err != nil {
		return fmt.Errorf("link the binaries: %w", err)
	}
	return nil
}

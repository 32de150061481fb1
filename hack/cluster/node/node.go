package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/network"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/probe"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/process"
)

// Names of a node's processes.
const (
	Containerd = "containerd"
	Kubelet    = "kubelet"
)

// Components are the cgroup of all processes that are in no pod.
const Components = layout.Cgroup + "/components"

// Nodes runs the nodes of one cluster.
type Nodes struct {
	Layout    layout.Layout
	Processes process.Table
	Cgroups   host.Cgroups
}

// StartRuntime makes the node's folders and starts its containerd, which can
// be done before there is an API server.
func (s Nodes) StartRuntime(ctx context.Context, n int) error {
	node := s.Layout.Node(n)
	if err := s.configure(node); err != nil {
		return fmt.Errorf("configure %s: %w", node.Name(), err)
	}
	if err := s.Cgroups.Make(node.Cgroup()); err != nil {
		return err
	}
	if err := s.Cgroups.Weigh(node.Cgroup(), 4); err != nil { // against the control plane, which has nodes of its own
		return err
	}
	if err := network.JoinNode(n); err != nil {
		return err
	}
	err := s.start(node.Process(Containerd), unshared(node,
		Containerd, "--config", node.Path("containerd.toml"), "--log-level", "warn"))
	if err != nil {
		return err
	}
	if err := probe.Until(ctx, node.Name()+"'s containerd", probe.Dial("unix", node.Socket())); err != nil {
		return err
	}
	return s.Load(ctx, n, s.pauseArchive())
}

// StartKubelet joins the node to the cluster.
func (s Nodes) StartKubelet(n int) error {
	node := s.Layout.Node(n)
	leaders, err := s.Processes.Leaders()
	if err != nil {
		return err
	}
	containerd, ok := leaders[node.Process(Containerd)]
	if !ok {
		return fmt.Errorf("%s's containerd has ended, see %s", node.Name(), s.Layout.Log(node.Process(Containerd)))
	}
	return s.start(node.Process(Kubelet), entered(containerd.PID,
		s.Layout.Binary(Kubelet), kubeletArgs(s.Layout, node)...))
}

func (s Nodes) start(name string, command []string) error {
	pid, err := s.Processes.Start(process.Spec{
		Name: name, Path: command[0], Args: command[1:], Log: s.Layout.Log(name),
	})
	if err != nil {
		return err
	}
	return s.Cgroups.Join(Components, pid)
}

// configure writes what the node's processes read.
func (s Nodes) configure(node layout.Node) error {
	cni, err := networkConfig(node)
	if err != nil {
		return err
	}
	kubelet, err := kubeletConfig(s.Layout, node)
	if err != nil {
		return err
	}
	for path, content := range map[string][]byte{
		"containerd.toml":        []byte(containerdConfig(node)),
		"cni/10-bridge.conflist": cni,
		"kubelet.yaml":           kubelet,
	} {
		path = node.Path(path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	for _, folder := range own(node) {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends the node as a power cut does: its links go first, then every
// process is killed. All mounts end with the last process. The disk stays as it
// was.
func (s Nodes) Stop(n int) error {
	node := s.Layout.Node(n)
	if err := network.CutNode(n); err != nil {
		return err
	}
	if err := s.kill(node); err != nil {
		return err
	}
	if err := s.Cgroups.Kill(node.Cgroup()); err != nil {
		return err
	}
	return errors.Join(s.Cgroups.Remove(node.Cgroup()), os.RemoveAll(node.Run))
}

// kill kills the node's processes and, by the mark that they inherit, shims.
func (s Nodes) kill(node layout.Node) error {
	all, err := s.Processes.List()
	if err != nil {
		return err
	}
	var own []process.Process
	for _, p := range all {
		if filepath.Dir(p.Name) == node.Name() {
			own = append(own, p)
		}
	}
	return s.Processes.Stop(own, 0)
}

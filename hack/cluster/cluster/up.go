package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/network"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/node"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/process"
)

// Up brings the cluster up with the components in that folder, after it has
// cleaned up what is left of an earlier one. If it fails, what it started is
// left for a look, and for the next Up or Down.
func (c Cluster) Up(ctx context.Context, binaries string, now time.Time) error {
	if err := c.clean(); err != nil {
		return err
	}
	groups, err := c.prepare(binaries, now)
	if err != nil {
		return err
	}
	return c.startAll(ctx, groups, now)
}

// clean takes away what an earlier cluster has left, if any.
func (c Cluster) clean() error {
	if err := c.own(); err != nil {
		return err
	}
	left, err := c.leftovers()
	if err != nil {
		return err
	}
	if left {
		c.Logf("cleaning up what is left of an earlier cluster")
		if err := c.Down(); err != nil {
			return fmt.Errorf("clean up: %w", err)
		}
	}
	return network.Foreign()
}

// prepare makes all that is there before the first process.
func (c Cluster) prepare(binaries string, now time.Time) (host.Cgroups, error) {
	if err := process.RaiseFileLimit(); err != nil {
		return host.Cgroups{}, err
	}
	groups, err := host.OpenCgroups()
	if err != nil {
		return host.Cgroups{}, err
	}
	if err := c.claim(); err != nil {
		return groups, err
	}
	if err := c.link(binaries); err != nil {
		return groups, err
	}
	snapshot := host.TakeSnapshot(node.FixedFolders())
	if err := snapshot.Save(c.Layout.Host()); err != nil {
		return groups, err
	}
	if err := snapshot.MakeFolders(); err != nil {
		return groups, err
	}
	if err := groups.Make(node.Components); err != nil {
		return groups, err
	}
	// What else runs on this machine, such as the tests themselves, has a machine of its own
	// elsewhere: it is not to keep the nodes from measuring.
	if err := groups.Weigh(layout.Cgroup, 10); err != nil {
		return groups, err
	}
	if err := host.AllowForwarding(); err != nil {
		return groups, err
	}
	if err := network.Up(); err != nil {
		return groups, err
	}
	if err := c.controlPlane(groups).Prepare(now); err != nil {
		return groups, err
	}
	return groups, c.nodes(groups).PackPause()
}

// startAll starts the control plane and the containerds side by side, and the
// kubelets as soon as there is an API server to register with.
func (c Cluster) startAll(ctx context.Context, groups host.Cgroups, now time.Time) error {
	plane, nodes := c.controlPlane(groups), c.nodes(groups)
	c.Logf("starting etcd and the API server, and %d containerds", layout.Nodes)
	err := parallel(
		func() error { return plane.StartAPI(ctx) },
		func() error { return each(func(n int) error { return nodes.StartRuntime(ctx, n) }) },
	)
	if err != nil {
		return err
	}
	c.Logf("starting %d kubelets and the rest of the control plane", layout.Nodes)
	if err := each(nodes.StartKubelet); err != nil {
		return err
	}
	return parallel(
		func() error { return plane.StartRest(ctx) },
		func() error { return plane.AwaitNodes(ctx, now, nodeNames()...) },
	)
}

// StartStopped starts the nodes that do not run, on a cluster that does.
func (c Cluster) StartStopped(ctx context.Context, now time.Time) error {
	leaders, err := c.processes().Leaders()
	if err != nil {
		return err
	}
	for n := 1; n <= layout.Nodes; n++ {
		if runs(leaders, c.Layout.Node(n)) {
			continue
		}
		if err := c.StartNode(ctx, n, now); err != nil {
			return err
		}
	}
	return nil
}

// StartNode starts a node that was stopped, and waits until it is ready.
func (c Cluster) StartNode(ctx context.Context, n int, now time.Time) error {
	leaders, err := c.processes().Leaders()
	if err != nil {
		return err
	}
	name := layout.NodeName(n)
	if runs(leaders, c.Layout.Node(n)) {
		c.Logf("%s runs already", name)
		return nil
	}
	c.Logf("starting %s", name)
	if err := process.RaiseFileLimit(); err != nil {
		return err
	}
	groups, err := host.OpenCgroups()
	if err != nil {
		return err
	}
	nodes := c.nodes(groups)
	if err := nodes.Stop(n); err != nil { // one process may have ended by itself
		return err
	}
	if err := nodes.StartRuntime(ctx, n); err != nil {
		return err
	}
	if err := nodes.StartKubelet(n); err != nil {
		return err
	}
	return c.controlPlane(groups).AwaitNodes(ctx, now, name)
}

// StopNode ends a node as a power cut does. The cluster notices by itself.
func (c Cluster) StopNode(n int) error {
	groups, err := host.OpenCgroups()
	if err != nil {
		return err
	}
	if err := c.nodes(groups).Stop(n); err != nil {
		return err
	}
	c.Logf("%s is stopped; the cluster notices within about 12 seconds", layout.NodeName(n))
	return nil
}

// Load imports image archives into all nodes that run.
func (c Cluster) Load(ctx context.Context, archives ...string) error {
	leaders, err := c.processes().Leaders()
	if err != nil {
		return err
	}
	groups, err := host.OpenCgroups()
	if err != nil {
		return err
	}
	nodes := c.nodes(groups)
	return each(func(n int) error {
		if !runs(leaders, c.Layout.Node(n)) {
			c.Logf("%s does not run: it gets no image", layout.NodeName(n))
			return nil
		}
		return nodes.Load(ctx, n, archives...)
	})
}

func nodeNames() []string {
	var names []string
	for n := 1; n <= layout.Nodes; n++ {
		names = append(names, layout.NodeName(n))
	}
	return names
}

// each does something for all nodes side by side.
func each(do func(n int) error) error {
	var tasks []func() error
	for n := 1; n <= layout.Nodes; n++ {
		tasks = append(tasks, func() error { return do(n) })
	}
	return parallel(tasks...)
}

// parallel does all tasks side by side and returns all their errors.
func parallel(tasks ...func() error) error {
	failures := make([]error, len(tasks))
	var group sync.WaitGroup
	for i, task := range tasks {
		group.Go(func() { failures[i] = task() })
	}
	group.Wait()
	return errors.Join(failures...)
}

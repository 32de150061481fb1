package cluster

import (
	"errors"
	"fmt"
	"os"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/network"
)

// Down removes everything. It kills the processes without a shutdown in order,
// as nothing is kept. It does all steps even if one fails, and can be repeated.
func (c Cluster) Down() error {
	if err := c.own(); err != nil {
		return err
	}
	snapshot, err := host.LoadSnapshot(c.Layout.Host())
	if err != nil {
		return err
	}
	groups, err := host.OpenCgroups()
	if err != nil {
		return err
	}
	var failures []error
	do := func(what string, err error) {
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", what, err))
		}
	}
	// Twice: a process that starts others, as containerd does, must end before
	// those in the control groups, or it starts them again.
	do("end the processes", c.killAll())
	do("end the pods", groups.Kill(layout.Cgroup))
	do("end the processes", c.killAll())
	do("take down the network", network.Down())
	do("remove the control groups", groups.Remove(layout.Cgroup))
	do("restore the host's settings", snapshot.Restore())
	// Last, since it has the snapshot; nothing is mounted in it on the host.
	do("remove the files", errors.Join(os.RemoveAll(c.Layout.Run), os.RemoveAll(c.Layout.State)))
	return errors.Join(failures...)
}

// killAll ends everything that carries the cluster's mark.
func (c Cluster) killAll() error {
	all, err := c.processes().List()
	if err != nil {
		return err
	}
	return c.processes().Stop(all, 0)
}

// leftovers is true if anything of a cluster exists.
func (c Cluster) leftovers() (bool, error) {
	for _, folder := range []string{c.Layout.State, c.Layout.Run} {
		if _, err := os.Stat(folder); err == nil {
			return true, nil
		}
	}
	all, err := c.processes().List()
	return len(all) > 0, err
}

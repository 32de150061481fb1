package cluster

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/network"
)

// podLogLinks is where the kubelet links pod logs, whatever its configuration.
const podLogLinks = "/var/log/containers"

// Down leaves nothing behind. It does not ask anybody to shut down in order,
// as nothing is kept. It does all steps even if one fails, and can be repeated.
func (c Cluster) Down() error {
	snapshot, err := host.LoadSnapshot(c.Layout.Host())
	if err != nil {
		return err
	}
	groups, err := host.OpenCgroups()
	if err != nil {
		return err
	}
	var failures []error
	for _, step := range []struct {
		what string
		do   func() error
	}{
		// Twice: who starts processes must go before what it started, or it
		// starts them again.
		{"end the processes", c.killAll},
		{"end the pods", func() error { return groups.Kill(layout.Cgroup) }},
		{"end the processes", c.killAll},
		{"unmount", func() error { return host.UnmountBelow(c.Layout.Run, c.Layout.State) }},
		{"take down the network", network.Down},
		{"remove the control groups", func() error { return groups.Remove(layout.Cgroup) }},
		{"remove links to logs", func() error { return host.RemoveLinksInto(podLogLinks, c.Layout.State) }},
		{"restore the host's settings", snapshot.Restore},
		{"remove the files", func() error {
			return errors.Join(os.RemoveAll(c.Layout.Run), os.RemoveAll(c.Layout.State))
		}},
	} {
		if err := step.do(); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", step.what, err))
			if step.what == "unmount" {
				break // removing files would reach into what is mounted
			}
		}
	}
	return errors.Join(failures...)
}

// killAll ends everything that carries the cluster's mark.
func (c Cluster) killAll() error {
	all, err := c.processes().List()
	if err != nil {
		return err
	}
	return c.processes().Stop(all, 0*time.Second)
}

// leftovers says whether anything of a cluster is there.
func (c Cluster) leftovers() (bool, error) {
	for _, folder := range []string{c.Layout.State, c.Layout.Run} {
		if _, err := os.Stat(folder); err == nil {
			return true, nil
		}
	}
	all, err := c.processes().List()
	return len(all) > 0, err
}

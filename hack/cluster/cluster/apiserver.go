package cluster

import (
	"context"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/controlplane"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/process"
)

// StopAPIServer kills the API server. All else goes on, as far as it can without.
func (c Cluster) StopAPIServer() error {
	leaders, err := c.processes().Leaders()
	if err != nil {
		return err
	}
	server, ok := leaders[controlplane.APIServer]
	if !ok {
		return nil
	}
	if err := c.processes().Stop([]process.Process{server}, 0); err != nil {
		return err
	}
	c.Logf("the API server is stopped")
	return nil
}

// StartAPIServer starts the API server of a cluster from which it was taken, and
// waits until it serves.
func (c Cluster) StartAPIServer(ctx context.Context) error {
	if err := c.own(); err != nil {
		return err
	}
	leaders, err := c.processes().Leaders()
	if err != nil {
		return err
	}
	if _, ok := leaders[controlplane.Etcd]; !ok {
		return ErrDown
	}
	if _, ok := leaders[controlplane.APIServer]; ok {
		c.Logf("the API server runs already")
		return nil
	}
	if err := process.RaiseFileLimit(); err != nil {
		return err
	}
	groups, err := host.OpenCgroups()
	if err != nil {
		return err
	}
	if err := c.controlPlane(groups).StartAPIServer(ctx); err != nil {
		return fmt.Errorf("start the API server on %s: %w", layout.ControlAddress, err)
	}
	c.Logf("the API server serves again")
	return nil
}

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/probe"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/process"
)

// ControlPlane runs the processes that are there once per cluster.
type ControlPlane struct {
	Layout    layout.Layout
	Processes process.Table
	Cgroups   host.Cgroups
	// Cgroup is where the processes are put.
	Cgroup string
}

// Prepare writes all that the processes read.
func (c ControlPlane) Prepare(now time.Time) error {
	if err := writeSecrets(c.Layout, now); err != nil {
		return err
	}
	resolvConf, err := os.ReadFile("/etc/resolv.conf")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the host's name servers: %w", err)
	}
	contents, err := files(c.Layout, string(resolvConf))
	if err != nil {
		return err
	}
	for name, content := range contents {
		path := c.Layout.Config(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make configuration folder: %w", err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return fmt.Errorf("write configuration: %w", err)
		}
	}
	// The volumes of all pods: only kubelets, as root, need access.
	return errors.Join(os.MkdirAll(c.Layout.Data(Etcd), 0o700), os.MkdirAll(c.Layout.Volumes(), 0o700))
}

// StartAPI starts etcd and the API server, and waits until it serves.
func (c ControlPlane) StartAPI(ctx context.Context) error {
	if err := c.start(Etcd); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

// StartAPIServer starts the API server alone, and waits until it serves.
func (c ControlPlane) StartAPIServer(ctx context.Context) error {
	if err := c.start(APIServer); err != nil {
		return err
	}
	client, err := NewClient(c.Layout)
	if err != nil {
		return err
	}
	return probe.Until(ctx, "the API server", c.alive(APIServer, client.Ready))
}

// StartRest starts what works through the API server, and makes its objects.
func (c ControlPlane) StartRest(ctx context.Context) error {
	if err := c.start(ControllerManager, Scheduler, Proxy, DNS); err != nil {
		return err
	}
	client, err := NewClient(c.Layout)
	if err != nil {
		return err
	}
	if err := client.apply(ctx, objects()); err != nil {
		return err
	}
	if err := c.start(Provisioner, Enforcer); err != nil { // they have their rights now
		return err
	}
	return probe.Until(ctx, "cluster DNS", c.alive(DNS, probe.Dial("tcp", address(layout.DNSReadyPort))))
}

// AwaitNodes waits until each of those nodes has reported since then that it is
// ready: the API server keeps the last report of a node that was just stopped.
func (c ControlPlane) AwaitNodes(ctx context.Context, since time.Time, names ...string) error {
	client, err := NewClient(c.Layout)
	if err != nil {
		return err
	}
	return probe.Until(ctx, "the nodes to be ready", func(ctx context.Context) error {
		ready, err := client.Nodes(ctx)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !readySince(ready[name], since) {
				return c.explain(name+"/kubelet", fmt.Errorf("%s is not ready", name))
			}
		}
		return nil
	})
}

// readySince compares whole seconds, which is all that the API server keeps.
func readySince(heartbeat, since time.Time) bool {
	return !heartbeat.Before(since.Truncate(time.Second))
}

func (c ControlPlane) start(names ...string) error {
	for _, name := range names {
		pid, err := c.Processes.Start(process.Spec{
			Name: name,
			Path: c.Layout.Binary(name),
			Args: arguments(c.Layout)[name],
			Log:  c.Layout.Log(name),
		})
		if err != nil {
			return err
		}
		if err := c.Cgroups.Join(c.Cgroup, pid); err != nil {
			return err
		}
	}
	return nil
}

// alive is the check with an explanation of its failures.
func (c ControlPlane) alive(name string, check probe.Check) probe.Check {
	return func(ctx context.Context) error {
		if failure := check(ctx); failure != nil {
			return c.explain(name, failure)
		}
		return nil
	}
}

// explain adds the path of the log to the failure, and makes it permanent if the
// process has ended.
func (c ControlPlane) explain(name string, failure error) error {
	leaders, err := c.Processes.Leaders()
	if err != nil {
		return errors.Join(failure, err)
	}
	if _, ok := leaders[name]; !ok {
		return fmt.Errorf("%w: %s has ended, see %s", probe.ErrPermanent, name, c.Layout.Log(name))
	}
	return fmt.Errorf("%w, see %s", failure, c.Layout.Log(name))
}

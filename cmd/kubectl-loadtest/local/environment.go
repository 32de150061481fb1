package local

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/certs"
)

// environment is what a run has in place of a cluster: a coordinator on the loopback
// interface, a folder of files that is private to this user, and processes.
type environment struct {
	coordinator *coordinator.Coordinator
	processes   *processes
	// folder has what a kubelet would mount.
	folder string
	// logged says that workers record each request.
	logged bool
	// changed holds one token when there is something new to decide on.
	changed chan struct{}

	// begin starts a worker.
	begin      func(invitation) error
	invitation invitation
	stop       context.CancelFunc
	served     chan error
}

// newEnvironment starts the coordinator.
func newEnvironment(ctx context.Context, lt *v1beta1.LoadTest, c Config) (_ *environment, err error) {
	folder, err := os.MkdirTemp("", "loadtest-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the workers' files: %w", err)
	}
	e := &environment{folder: folder, logged: c.Results != nil, changed: make(chan struct{}, 1), served: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	if err := c.Files.write(folder, lt); err != nil {
		return nil, err
	}
	e.processes = newProcesses(c.Command, e.notify)
	e.coordinator = coordinator.New(e.processes, clock.RealClock{}, func(coordinator.RunID) { e.notify() }, prometheus.NewRegistry())
	e.begin = func(i invitation) error { return e.processes.start(i, folder) }
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for workers: %w", err)
	}
	return e, e.serve(ctx, lis, string(lt.UID))
}

// serve has the coordinator accept workers of this machine.
func (e *environment) serve(ctx context.Context, lis net.Listener, run string) error {
	pair, err := certs.Generate(time.Now())
	if err != nil {
		return err
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return fmt.Errorf("load certificate: %w", err)
	}
	e.invitation = invitation{Coordinator: lis.Addr().String(), CA: string(pair.CA), Run: run}
	// It is stopped after the workers, which end their sessions first.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop = stop
	go func() {
		e.served <- e.coordinator.Serve(serving, lis, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13})
	}()
	return nil
}

// start starts the workers, each with a token that no other process has.
func (e *environment) start(workers int32) error {
	for n := range workers {
		i := e.invitation
		i.Worker, i.Workers, i.Token = n, workers, rand.Text()
		if e.logged {
			i.RequestLog = requestLog(e.folder, n)
		}
		if err := e.begin(i); err != nil {
			return err
		}
	}
	return nil
}

func (e *environment) notify() {
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

// close ends all that was started. Workers of a run that is over are given time to end
// by themselves. collect takes what they have left in the folder.
func (e *environment) close(over bool, collect func() error) error {
	patience := time.Duration(0)
	if over {
		patience = partingTime
	}
	e.processes.close(patience)
	e.stop()
	return errors.Join(<-e.served, collect(), os.RemoveAll(e.folder))
}

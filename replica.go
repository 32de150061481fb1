package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
)

const (
	// requestTimeout bounds a request past the cache, retryEvery is the pause after
	// one that failed.
	requestTimeout = 5 * time.Second
	retryEvery     = time.Second
	// syncTimeout bounds the first read of all that is watched.
	syncTimeout = time.Minute
	// upkeepEvery is how often the leader looks after its endpoint, and each replica
	// after the certificate: a request each.
	upkeepEvery = 10 * time.Second
)

// replica is one of the operator's processes: a standby that can take over, or the
// leader.
type replica struct {
	direct       client.Client // past the cache
	certificates *loadtest.Certificates
	endpoint     *loadtest.Endpoint // nil: workers dial this process
	bind         string
	workers      *coordinator.Coordinator
	// prepared is closed when the replica can take over.
	prepared chan struct{}
	// unready says why the replica is not ready; nil: it is.
	unready atomic.Pointer[string]
}

func newReplica(config *rest.Config, o options) (*replica, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Timeout = requestTimeout
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	endpoint, err := o.endpoint()
	if err != nil {
		return nil, err
	}
	r := &replica{
		direct: direct, endpoint: endpoint, bind: o.coordinatorBind, prepared: make(chan struct{}),
		certificates: &loadtest.Certificates{
			Client: direct, Clock: clock.RealClock{}, Secret: types.NamespacedName{Namespace: o.namespace, Name: o.coordinatorSecret},
		},
	}
	r.isUnready("the API server has not been read yet")
	return r, nil
}

// endpoint is where the Service leads; nil: there is no Service.
func (o *options) endpoint() (*loadtest.Endpoint, error) {
	if o.coordinatorService == "" {
		return nil, nil
	}
	address, err := netip.ParseAddr(o.podIP)
	if err != nil {
		return nil, fmt.Errorf("--coordinator-service is of no use without --pod-ip or POD_IP: %w", err)
	}
	_, port, err := net.SplitHostPort(o.coordinatorBind)
	if err != nil {
		return nil, fmt.Errorf("--coordinator-bind-address: %w", err)
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return nil, fmt.Errorf("--coordinator-bind-address: %w", err)
	}
	return &loadtest.Endpoint{
		Service: types.NamespacedName{Namespace: o.namespace, Name: o.coordinatorService},
		Address: address, Port: int32(number),
	}, nil
}

// everywhere is a part that runs on each replica, not on the leader alone.
type everywhere func(context.Context) error

var _ manager.LeaderElectionRunnable = everywhere(nil)

// Start runs it.
func (f everywhere) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection is false.
func (everywhere) NeedLeaderElection() bool { return false }

func (r *replica) isUnready(reason string) { r.unready.Store(&reason) }

// serveProbes answers the kubelet from the first moment on, be there an API server or
// not: the process runs, and is ready or not.
func (r *replica) serveProbes(ctx context.Context, address string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for probes: %w", err)
	}
	probes := http.NewServeMux()
	probes.Handle("/healthz", healthz.CheckHandler{Checker: healthz.Ping})
	probes.Handle("/readyz", healthz.CheckHandler{Checker: r.ready})
	server := &http.Server{Handler: probes, ReadHeaderTimeout: requestTimeout}
	go func() { _ = server.Serve(listener) }() // until the process ends
	return nil
}

// ready is the readiness probe: a standby is ready when it can take over, the leader
// when workers can reach it.
func (r *replica) ready(*http.Request) error {
	if reason := r.unready.Load(); reason != nil {
		return errors.New(*reason)
	}
	return nil
}

// readCertificate reads the certificate past the cache, and tries until the API server
// answers. Only then do watches begin, since one that fails at once waits for long.
func (r *replica) readCertificate(ctx context.Context) error {
	return persist(ctx, "read the coordinator's certificate", r.certificates.Refresh)
}

// watch reads all that a leader needs, and keeps it up to date.
func (r *replica) watch(ctx context.Context, c cache.Cache, configuration configured, kinds []client.Object) error {
	limited, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	if err := configuration(ctx, limited); err != nil {
		return err
	}
	for _, watched := range kinds {
		if _, err := c.GetInformer(limited, watched); err != nil {
			return fmt.Errorf("watch %T: %w", watched, err)
		}
	}
	r.unready.Store(nil)
	close(r.prepared)
	return nil
}

// lead serves workers until ctx ends.
func (r *replica) lead(ctx context.Context) error {
	r.isUnready("it leads, and workers cannot reach it yet")
	// Another leader may have renewed the certificate since this one read it.
	if err := r.readCertificate(ctx); err != nil {
		return nil // ctx has ended
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", r.bind)
	if err != nil {
		return fmt.Errorf("listen for workers: %w", err)
	}
	var upkeep sync.WaitGroup
	upkeep.Go(func() { r.upkeep(ctx) })
	defer upkeep.Wait()
	return r.workers.Serve(ctx, listener, &tls.Config{GetCertificate: r.certificates.Get, MinVersion: tls.VersionTLS13})
}

// keepCertificate renews the certificate, or reads what another replica has renewed,
// again and again: a standby serves its metrics with it.
func (r *replica) keepCertificate(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := attempt(ctx, r.certificates.Refresh); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot renew the coordinator's certificate")
		}
		pause(ctx, upkeepEvery)
	}
	return nil
}

// upkeep directs the Service to this replica, again and again: an earlier leader that
// was stopped and continued may have written to the Service since, or what was written
// may have been deleted.
func (r *replica) upkeep(ctx context.Context) {
	for ctx.Err() == nil {
		if err := persist(ctx, "direct workers to this replica", r.publish); err != nil {
			return // ctx has ended
		}
		r.unready.Store(nil)
		pause(ctx, upkeepEvery)
	}
}

func (r *replica) publish(ctx context.Context) error {
	if r.endpoint == nil {
		return nil
	}
	return r.endpoint.Publish(ctx, r.direct)
}

// persist tries until it succeeds, or ctx ends, which is its only error.
func persist(ctx context.Context, what string, try func(context.Context) error) error {
	for {
		err := attempt(ctx, try)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		ctrl.LoggerFrom(ctx).Error(err, "cannot "+what)
		pause(ctx, retryEvery)
	}
}

func attempt(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return try(ctx)
}

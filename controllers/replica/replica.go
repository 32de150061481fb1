package replica

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
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

// Config configures a replica.
type Config struct {
	// Client leads past the cache, and its requests are bounded in time: see NewClient.
	Client client.Client
	// Certificate is the Secret with the coordinator's certificate.
	Certificate types.NamespacedName
	// Endpoint is where the Service of workers leads; nil: workers dial this process.
	Endpoint *Endpoint
	// Bind is the address on which workers are served.
	Bind string
}

// Replica is one of the operator's processes: a standby that can take over, or the
// leader.
type Replica struct {
	// Certificates of the coordinator.
	Certificates *Certificates
	// Workers are served by the leader. It is set before the replica leads.
	Workers *coordinator.Coordinator

	direct   client.Client
	endpoint *Endpoint
	bind     string
	// prepared is closed when the replica can take over.
	prepared chan struct{}
	// unready says why the replica is not ready; nil: it is.
	unready atomic.Pointer[string]
}

// NewClient returns a client that reads past the cache, each of whose requests is bounded in
// time.
func NewClient(config *rest.Config, scheme *runtime.Scheme) (client.Client, error) {
	config = rest.CopyConfig(config)
	config.Timeout = requestTimeout
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	return direct, nil
}

// New returns a replica that is not ready yet.
func New(c Config) *Replica {
	r := &Replica{
		Certificates: &Certificates{Client: c.Client, Clock: clock.RealClock{}, Secret: c.Certificate},
		direct:       c.Client, endpoint: c.Endpoint, bind: c.Bind, prepared: make(chan struct{}),
	}
	r.setUnready("the API server has not been read yet")
	return r
}

// Everywhere is a part that runs on each replica, not on the leader alone.
type Everywhere func(context.Context) error

var _ manager.LeaderElectionRunnable = Everywhere(nil)

// Start runs it.
func (f Everywhere) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection is false.
func (Everywhere) NeedLeaderElection() bool { return false }

func (r *Replica) setUnready(reason string) { r.unready.Store(&reason) }

// ServeProbes answers the kubelet from the start, whether or not the API server can be reached:
// the process runs, and is ready or not.
func (r *Replica) ServeProbes(ctx context.Context, address string) error {
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
func (r *Replica) ready(*http.Request) error {
	if reason := r.unready.Load(); reason != nil {
		return errors.New(*reason)
	}
	return nil
}

// ReadCertificate reads the certificate past the cache, and tries until the API server
// answers. Only then do watches begin, since one that fails at once waits for long.
func (r *Replica) ReadCertificate(ctx context.Context) error {
	return persist(ctx, "read the coordinator's certificate", r.Certificates.Refresh)
}

// Configured reads the administrator's configuration, and again when it changes until ctx
// ends. It returns when it was read once, or limited ends.
type Configured func(ctx, limited context.Context) error

// Watch reads all that a leader needs, and keeps it up to date.
func (r *Replica) Watch(ctx context.Context, c cache.Cache, configuration Configured, kinds []client.Object) error {
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

// Lead serves workers until ctx ends.
func (r *Replica) Lead(ctx context.Context) error {
	r.setUnready("it leads, but workers cannot reach it yet")
	// Another leader may have renewed the certificate since this one read it.
	if err := r.ReadCertificate(ctx); err != nil {
		return nil // ctx has ended
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", r.bind)
	if err != nil {
		return fmt.Errorf("listen for workers: %w", err)
	}
	var upkeep sync.WaitGroup
	upkeep.Go(func() { r.upkeep(ctx) })
	defer upkeep.Wait()
	return r.Workers.Serve(ctx, listener, &tls.Config{GetCertificate: r.Certificates.Get, MinVersion: tls.VersionTLS13})
}

// KeepCertificate renews the certificate, or reads what another replica has renewed,
// again and again: a standby serves its metrics with it.
func (r *Replica) KeepCertificate(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := attempt(ctx, r.Certificates.Refresh); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot renew the coordinator's certificate")
		}
		Pause(ctx, upkeepEvery)
	}
	return nil
}

// upkeep directs the Service to this replica, again and again: an earlier leader that
// was stopped and continued may have written to the Service since, or what was written
// may have been deleted.
func (r *Replica) upkeep(ctx context.Context) {
	for ctx.Err() == nil {
		if err := persist(ctx, "direct workers to this replica", r.publish); err != nil {
			return // ctx has ended
		}
		r.unready.Store(nil)
		Pause(ctx, upkeepEvery)
	}
}

func (r *Replica) publish(ctx context.Context) error {
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
		Pause(ctx, retryEvery)
	}
}

func attempt(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return try(ctx)
}

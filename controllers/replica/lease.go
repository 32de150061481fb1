package replica

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// A leader that ends without releasing its lease is followed after leaseDuration and
// up to two polls of the standby, each 1 to 2.2 s apart: 8 to 12 s. It is not less
// because an API server that is restarted is away for some five seconds, which fence
// bears. A renewal each second costs a write of some 300 bytes.
const (
	leaseDuration = 8 * time.Second
	renewDeadline = 6 * time.Second
	retryPeriod   = time.Second
	// fence is how long a leader leads after it began its last renewal: less than
	// leaseDuration, before which no other replica leads.
	fence = renewDeadline + retryPeriod
)

// Lease is the lock of the leader election with two additions. A replica takes part
// once it can take over. And the process is told at once to stop when it has been
// without the API server for too long, or when another replica leads: the election
// alone notices up to renewDeadline later, since it tries on, and a process that was
// stopped and continues would lead in that time.
type Lease struct {
	resourcelock.Interface
	name string
	// prepared is closed when the replica can take over.
	prepared <-chan struct{}
	// lost is called when this process must neither lead nor trust its cache, whose
	// watches wait for up to a minute after the API server was away.
	lost func(error)
	// limit is how long the replica may be without the API server.
	limit time.Duration

	first   sync.Once
	held    atomic.Bool
	unheard *time.Timer
}

// NewLease returns the lease of an operator, which the replica competes for once it is prepared. lost
// is called when this process must stop.
func (r *Replica) NewLease(config *rest.Config, lease types.NamespacedName, lost func(error)) (*Lease, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	// A process that starts over, or in the same container, goes on with the lease
	// that it held: no other process has its host name and id.
	identity := fmt.Sprintf("%s_%d", host, os.Getpid())
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, lease.Namespace, lease.Name,
		resourcelock.ResourceLockConfig{Identity: identity}, config, renewDeadline)
	if err != nil {
		return nil, fmt.Errorf("make lease: %w", err)
	}
	l := fenced(lock, fence, r.prepared, lost)
	l.name = lease.Name
	return l, nil
}

func fenced(lock resourcelock.Interface, limit time.Duration, prepared <-chan struct{}, lost func(error)) *Lease {
	l := &Lease{Interface: lock, prepared: prepared, lost: lost, limit: limit}
	l.unheard = time.AfterFunc(limit, func() {
		lost(fmt.Errorf("the lease could not be read or renewed for %s", limit))
	})
	l.unheard.Stop()
	return l
}

// Election is what of a manager's options the lease decides.
func (l *Lease) Election() ctrl.Options {
	return ctrl.Options{
		LeaderElection:                      true,
		LeaderElectionID:                    l.name,
		LeaderElectionResourceLockInterface: l,
		LeaderElectionReleaseOnCancel:       true,
		LeaseDuration:                       ptr.To(leaseDuration),
		RenewDeadline:                       ptr.To(renewDeadline),
		RetryPeriod:                         ptr.To(retryPeriod),
		GracefulShutdownTimeout:             ptr.To(gracePeriod),
	}
}

// Get reads who leads.
func (l *Lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	select {
	case <-l.prepared:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	at := time.Now()
	l.first.Do(func() { l.heard(at) }) // all was read a moment ago
	record, raw, err := l.Interface.Get(ctx)
	switch {
	case l.held.Load():
		if err == nil && record.HolderIdentity != l.Identity() {
			l.lost(fmt.Errorf("the lease is held by %q", record.HolderIdentity))
		}
	case err == nil || apierrors.IsNotFound(err):
		l.heard(at)
	}
	return record, raw, err
}

// Create makes the lease, held by this replica.
func (l *Lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update acquires, renews or releases the lease.
func (l *Lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Update)
}

func (l *Lease) write(ctx context.Context, record resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	at := time.Now()
	if err := write(ctx, record); err != nil {
		return err
	}
	l.held.Store(record.HolderIdentity == l.Identity())
	l.heard(at)
	return nil
}

// heard begins the time anew that the replica may be without the API server.
func (l *Lease) heard(at time.Time) {
	l.unheard.Reset(l.limit - time.Since(at))
}

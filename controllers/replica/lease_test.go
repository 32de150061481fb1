package replica

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is a lease in memory, at an API server that may be away.
type lock struct {
	resourcelock.Interface
	holder string // empty: there is no lease
	away   bool
	full   bool // reads are answered, writes are not
}

func (l *lock) Identity() string { return "me" }

func (l *lock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	switch {
	case l.away:
		return nil, nil, errors.New("connection refused")
	case l.holder == "":
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "leases"}, "lease")
	}
	return &resourcelock.LeaderElectionRecord{HolderIdentity: l.holder}, nil, nil
}

func (l *lock) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	if l.away || l.full {
		return errors.New("connection refused")
	}
	l.holder = r.HolderIdentity
	return nil
}

func (l *lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, r)
}

func TestReplicaStopsInTime(t *testing.T) {
	const me, other = "me", "another"
	hold := func(l *Lease, holder string) {
		_ = l.Update(context.Background(), resourcelock.LeaderElectionRecord{HolderIdentity: holder})
	}
	read := func(l *Lease) { _, _, _ = l.Get(context.Background()) }
	for name, tc := range map[string]struct {
		holder string
		// each is called once a second.
		each func(second int, l *Lease, lock *lock)
		// stops is when the process is told to stop, in seconds, and why; empty: it is not.
		stops int
		why   string
	}{
		"a leader that renews": {me, func(_ int, l *Lease, _ *lock) { hold(l, me) }, 0, ""},
		"a leader whose renewals fail for 5 s": {me, func(s int, l *Lease, lock *lock) {
			lock.away = s > 3 && s < 9
			hold(l, me)
		}, 0, ""},
		"a leader without the API server": {me, func(s int, l *Lease, lock *lock) {
			lock.away = s > 3
			hold(l, me)
			read(l)
		}, 10, "could not be read or renewed for 7s"},
		"a leader that may only read": {me, func(s int, l *Lease, lock *lock) {
			lock.full = s > 3
			hold(l, me)
			read(l)
		}, 10, "could not be read or renewed for 7s"},
		"a leader that was stopped": {me, func(int, *Lease, *lock) {}, 7, "could not be read or renewed for 7s"},
		"a leader whose clock stood still": {me, func(s int, l *Lease, lock *lock) {
			if s == 4 {
				lock.holder = other
				read(l)
			}
		}, 4, `held by "another"`},
		"a standby": {other, func(_ int, l *Lease, _ *lock) { read(l) }, 0, ""},
		"a standby without the API server": {other, func(s int, l *Lease, lock *lock) {
			lock.away = s > 3
			read(l)
		}, 10, "could not be read or renewed for 7s"},
		"a replica that never reads the lease": {"", func(_ int, l *Lease, lock *lock) {
			lock.away = true
			read(l)
		}, 8, "could not be read or renewed for 7s"},
		"the first replica of all": {"", func(s int, l *Lease, _ *lock) {
			if read(l); s > 5 {
				_ = l.Create(context.Background(), resourcelock.LeaderElectionRecord{HolderIdentity: me})
			}
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var stopped int
				var why string
				ended, end := context.WithCancel(t.Context())
				defer end()
				prepared := make(chan struct{})
				close(prepared)
				lock := &lock{holder: tc.holder}
				l := fenced(lock, fence, prepared, func(reason error) {
					stopped, why = int(time.Since(begun).Seconds()), reason.Error()
					end()
				})
				if tc.holder == me {
					hold(l, me)
				}
				for second := 1; second < 30 && ended.Err() == nil; second++ {
					Pause(ended, time.Second)
					if ended.Err() == nil {
						tc.each(second, l, lock)
					}
				}
				l.unheard.Stop()
				if stopped != tc.stops || !strings.Contains(why, tc.why) {
					t.Errorf("told to stop after %d s as %q, want after %d s as %q", stopped, why, tc.stops, tc.why)
				}
			})
		})
	}
}

// Until a replica can take over it does not ask for the lease.
func TestReplicaStandsForElectionOncePrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prepared := make(chan struct{})
		l := fenced(&lock{holder: "another"}, fence, prepared, func(reason error) { t.Errorf("told to stop: %v", reason) })
		defer l.unheard.Stop()
		asked := make(chan error, 1)
		ask := func(ctx context.Context) {
			_, _, err := l.Get(ctx)
			asked <- err
		}
		ctx, cancel := context.WithCancel(t.Context())
		go ask(ctx)
		Pause(t.Context(), time.Hour)
		select {
		case err := <-asked:
			t.Fatalf("it asked before it was prepared: %v", err)
		default:
		}
		cancel()
		if err := <-asked; !errors.Is(err, context.Canceled) {
			t.Errorf("stopped meanwhile: %v, want that it was canceled", err)
		}
		close(prepared)
		ask(t.Context())
		if err := <-asked; err != nil {
			t.Errorf("prepared: %v", err)
		}
	})
}

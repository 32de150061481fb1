package main

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/replica"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestStandbyTakesOverFromALeaderThatEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		signal   syscall.Signal
		releases bool // its lease, which the standby need not wait for then
	}{
		"in order": {syscall.SIGTERM, true},
		"killed":   {syscall.SIGKILL, false},
	} {
		t.Run(name, func(t *testing.T) {
			if !tc.releases {
				seldom(t)
			}
			o := newOperators(t)
			leader, standby := o.pair()
			connect(t, leader.coordinator)
			released := o.releases(leader, standby)
			leader.signal(tc.signal)
			await.True(t, "the standby leads", func() bool { return o.leads(standby) && standby.serves() && standby.ready() })
			same.As(t, "the leader released its lease", tc.releases, <-released)
		})
	}
}

// releases says, once the standby holds the lease, whether the leader had released it.
func (o *operators) releases(leader, standby *operator) <-chan bool {
	o.t.Helper()
	leases, err := apiserver.Client(o.t).Watch(o.t.Context(), &coordinationv1.LeaseList{}, client.InNamespace(o.namespace))
	must.Succeed(o.t, err)
	o.t.Cleanup(leases.Stop)
	heldBy := func(lease *coordinationv1.Lease, p *operator) bool {
		return strings.HasSuffix(ptr.Deref(lease.Spec.HolderIdentity, ""), fmt.Sprintf("_%d", p.process.Pid))
	}
	released := make(chan bool, 1)
	go func() {
		defer close(released)
		before := false
		for event := range leases.ResultChan() {
			lease, ok := event.Object.(*coordinationv1.Lease)
			if ok && heldBy(lease, standby) {
				released <- before
				return
			}
			before = ok && !heldBy(lease, leader)
		}
	}()
	return released
}

// A leader that was stopped for longer than its lease, and continues, serves no worker
// and is the standby of the one that took over.
func TestStoppedLeaderDoesNotLeadOn(t *testing.T) {
	o := newOperators(t)
	former, leader := o.pair()
	session := connect(t, former.coordinator)

	former.signal(syscall.SIGSTOP)
	await.True(t, "the standby leads", func() bool { return o.leads(leader) })
	former.signal(syscall.SIGCONT)

	await.True(t, "its sessions are closed", func() bool { return session.GetState() != connectivity.Ready })
	await.True(t, "it starts over", func() bool { return strings.Contains(former.log(), "start over") })
	await.True(t, "it is ready as a standby", former.ready)
	if former.serves() {
		t.Error("the former leader serves workers again")
	}
	// A write that it had begun may come late: the leader takes its Service back.
	await.True(t, "the Service leads to the one that took over", func() bool { return o.leads(leader) })
}

// A write of an earlier leader that comes late does not keep workers away for long.
func TestLeaderTakesItsServiceBack(t *testing.T) {
	seldom(t)
	o := newOperators(t)
	only := o.lead()
	late := replica.Endpoint{
		Service: types.NamespacedName{Namespace: o.namespace, Name: "leader"}, Address: netip.MustParseAddr("10.9.9.9"), Port: 9443,
	}
	must.Succeed(t, late.Publish(t.Context(), o.client))
	await.True(t, "the Service leads to it again", func() bool { return o.leads(only) })
}

func TestLeaderThatWorkersCannotReachIsNotReady(t *testing.T) {
	seldom(t)
	o := newOperators(t)
	only := o.start("--coordinator-service=no_name")
	await.True(t, "it cannot write its endpoint", func() bool { return strings.Contains(only.log(), "cannot direct workers to this replica") })
	if !only.alive() || only.ready() {
		t.Errorf("alive %t and ready %t, want alive alone", only.alive(), only.ready())
	}
}

// connect opens a connection as a worker does.
func connect(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, // whether it is open is all that matters
	})))
	must.Succeed(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	conn.Connect()
	await.True(t, "connected", func() bool { return conn.GetState() == connectivity.Ready })
	return conn
}

// An API server that is away ends no process, and a single replica leads again soon
// after it is back.
func TestAPIServerAwayEndsNoReplica(t *testing.T) {
	seldom(t)
	o := newOperators(t)
	o.link.freeze()
	only := o.start()
	await.True(t, "it is alive without an API server", only.alive)
	if only.ready() {
		t.Error("ready without having read anything")
	}
	o.link.thaw()
	await.True(t, "it leads", func() bool { return o.leads(only) && only.ready() && only.serves() })

	o.link.freeze()
	// That this is before its lease ends is TestReplicaStopsInTime's.
	await.True(t, "it serves no worker", func() bool { return !only.serves() })
	await.True(t, "it is alive", only.alive)
	if only.ready() {
		t.Error("ready without the API server")
	}
	replica.Pause(t.Context(), 10*time.Second) // of absence
	o.link.thaw()
	await.True(t, "it leads again", func() bool { return only.serves() && only.ready() })
	only.endsInOrder()
}

// A replica that waits for the API server ends when it is told to.
func TestReplicaWithoutAPIServerEnds(t *testing.T) {
	seldom(t)
	o := newOperators(t)
	o.link.freeze()
	defer o.link.thaw()
	only := o.start()
	await.True(t, "it is alive", only.alive)
	only.endsInOrder()
}

package main

import (
	"crypto/tls"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
)

func TestStandbyTakesOverFromALeaderThatEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		signal syscall.Signal
		within time.Duration
	}{
		"in order": {syscall.SIGTERM, 10 * time.Second},
		"killed":   {syscall.SIGKILL, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOperators(t)
			leader, standby := o.pair()
			connect(t, leader.coordinator)
			leader.signal(tc.signal)
			took := eventually(t, tc.within, "the standby leads", func() bool { return o.leads(standby) && standby.serves() && standby.ready() })
			t.Logf("takeover: signal=%s seconds=%.1f", tc.signal, took.Seconds())
		})
	}
}

// A leader that was stopped for longer than its lease, and continues, serves no worker
// and is the standby of the one that took over.
func TestStoppedLeaderDoesNotLeadOn(t *testing.T) {
	o := newOperators(t)
	former, leader := o.pair()
	session := connect(t, former.coordinator)

	former.signal(syscall.SIGSTOP)
	eventually(t, 20*time.Second, "the standby leads", func() bool { return o.leads(leader) })
	former.signal(syscall.SIGCONT)

	took := eventually(t, 5*time.Second, "its sessions are closed", func() bool { return session.GetState() != connectivity.Ready })
	t.Logf("takeover: signal=SIGCONT sessions-closed-seconds=%.3f", took.Seconds())
	eventually(t, 5*time.Second, "it starts over", func() bool { return strings.Contains(former.log(), "start over") })
	eventually(t, 20*time.Second, "it is ready as a standby", former.ready)
	if former.serves() {
		t.Error("the former leader serves workers again")
	}
	// A write that it had begun may come late: the leader takes its Service back.
	eventually(t, upkeepEvery+requestTimeout, "the Service leads to the one that took over", func() bool { return o.leads(leader) })
}

// A write of an earlier leader that comes late does not keep workers away for long.
func TestLeaderTakesItsServiceBack(t *testing.T) {
	o := newOperators(t)
	only := o.start()
	eventually(t, time.Minute, "it leads", func() bool { return o.leads(only) })
	late := loadtest.Endpoint{
		Service: types.NamespacedName{Namespace: o.namespace, Name: "leader"}, Address: netip.MustParseAddr("10.9.9.9"), Port: 9443,
	}
	if err := late.Publish(t.Context(), o.client); err != nil {
		t.Fatal(err)
	}
	eventually(t, upkeepEvery+requestTimeout, "the Service leads to it again", func() bool { return o.leads(only) })
}

func TestLeaderThatWorkersCannotReachIsNotReady(t *testing.T) {
	o := newOperators(t)
	only := o.start("--coordinator-service=no_name")
	eventually(t, time.Minute, "it cannot write its endpoint", func() bool { return strings.Contains(only.log(), "cannot direct workers to this replica") })
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	conn.Connect()
	eventually(t, 10*time.Second, "connected", func() bool { return conn.GetState() == connectivity.Ready })
	return conn
}

// An API server that is away ends no process, and a single replica leads again soon
// after it is back.
func TestAPIServerAwayEndsNoReplica(t *testing.T) {
	o := newOperators(t)
	o.link.freeze()
	only := o.start()
	eventually(t, 20*time.Second, "it is alive without an API server", only.alive)
	if only.ready() {
		t.Error("ready without having read anything")
	}
	o.link.thaw()
	eventually(t, 30*time.Second, "it leads", func() bool { return o.leads(only) && only.ready() && only.serves() })

	o.link.freeze()
	begun := time.Now()
	eventually(t, 20*time.Second, "it serves no worker", func() bool { return !only.serves() })
	if stopped := time.Since(begun); stopped > leaseDuration {
		t.Errorf("it served for %s without the API server, longer than its lease", stopped)
	}
	eventually(t, 20*time.Second, "it is alive", only.alive)
	if only.ready() {
		t.Error("ready without the API server")
	}
	pause(t.Context(), 10*time.Second) // of absence
	o.link.thaw()
	took := eventually(t, 30*time.Second, "it leads again", func() bool { return only.serves() && only.ready() })
	t.Logf("takeover: api-server-back seconds=%.1f", took.Seconds())
	only.endsInOrder()
}

// A replica that waits for the API server ends when it is told to.
func TestReplicaWithoutAPIServerEnds(t *testing.T) {
	o := newOperators(t)
	o.link.freeze()
	defer o.link.thaw()
	only := o.start()
	eventually(t, 20*time.Second, "it is alive", only.alive)
	only.endsInOrder()
}

package main

import (
	"bufio"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
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
	session, err := net.Dial("tcp", former.coordinator)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()

	former.signal(syscall.SIGSTOP)
	eventually(t, 20*time.Second, "the standby leads", func() bool { return o.leads(leader) })
	former.signal(syscall.SIGCONT)

	_ = session.SetReadDeadline(time.Now().Add(5 * time.Second))
	begun := time.Now()
	if _, err := bufio.NewReader(session).ReadByte(); err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("a session with the former leader: %v, want that it is closed", err)
	}
	t.Logf("takeover: signal=SIGCONT sessions-closed-seconds=%.3f", time.Since(begun).Seconds())
	eventually(t, 20*time.Second, "the former leader is ready as a standby", former.ready)
	if former.serves() || !o.leads(leader) {
		t.Error("the former leader serves workers again")
	}
	if !strings.Contains(former.log(), "start over") {
		t.Error("the former leader did not start over")
	}
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

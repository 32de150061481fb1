//go:build !race

package attack

import (
	"bufio"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/trace"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// A step itself allocates; what grows with the number of hits is theirs. The race
// detector allocates too, so that this is a test without it.
func TestArrivalsAllocateNothing(t *testing.T) {
	d := onlyEventLoops(t, "vegeta makes a request and a result for each hit")
	for name, traced := range map[string]int64{"without traces": 0, "with traces": trace.Whole} {
		t.Run(name, func(t *testing.T) {
			r := d.runner(t, setup{url: frugal(t), maxConns: 4, traced: traced})
			allocatesNothing(t, r, arrivalsStep(100e6, time.Second), arrivalsStep(10_000e6, time.Second))
		})
	}
}

// Think times take no timer and no memory for each request.
func TestThinkingUsersAllocateNothing(t *testing.T) {
	d := onlyEventLoops(t, "the client's deadlines may allocate")
	thinking := func(longest time.Duration) StepShare {
		return usersStep(50, ClosedUsers{Duration: time.Second, Think: pace.Think{Longest: longest}})
	}
	allocatesNothing(t, d.runner(t, setup{url: frugal(t)}), thinking(time.Second), thinking(10*ms))
}

// A journey that captures nothing, of a target that sets no cookies, takes no memory for
// each request.
func TestJourneysAllocateNothing(t *testing.T) {
	d := onlyEventLoops(t, "the client's deadlines may allocate")
	r := d.runner(t, setup{
		url: frugal(t), requests: []source.Request{get("/a/${seq}"), get("/b/${user}")},
		journeys: []source.Journey{{Name: "j", Weight: 1, TimeLimit: time.Minute, Steps: []source.JourneyStep{
			{Request: 0, Times: 2}, {Request: 1, Times: 1}, {Think: pace.Think{Shortest: time.Microsecond, Longest: 2 * time.Microsecond}},
		}}},
	})
	burst := func(requests int64) StepShare {
		return usersStep(20, Burst{Requests: requests, Limit: time.Minute})
	}
	allocatesNothing(t, r, burst(30), burst(1500))
}

// allocatesNothing compares a step of few requests with one of many.
func allocatesNothing(t *testing.T, r *Runner, fewer, more StepShare) {
	t.Helper()
	measured := func(step StepShare) (allocated, sent float64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := drive(t, r, step)
		runtime.ReadMemStats(&after)
		for _, j := range s.Journeys {
			if j.Completed == 0 || j.Failed > 0 {
				t.Fatalf("%d journeys completed, %d failed", j.Completed, j.Failed)
			}
		}
		return float64(after.Mallocs - before.Mallocs), float64(total(t, s).Sent)
	}
	measured(fewer) // opens the connections
	base, few := measured(fewer)
	all, many := measured(more)
	if many < 10*few {
		t.Fatalf("%v and %v requests were sent: there is nothing to compare", few, many)
	}
	if n := (all - base) / (many - few); n > 0.1 {
		t.Errorf("%.2f allocations for each request, want none", n)
	}
}

// frugal is a server that allocates nothing for a request: it takes what it reads at once for one.
func frugal(t *testing.T) string {
	t.Helper()
	return scripted.ServeAll(t, func(conn *net.TCPConn, _ *bufio.Reader) {
		in, out := make([]byte, 4096), []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		for {
			if _, err := conn.Read(in); err != nil {
				return
			}
			if _, err := conn.Write(out); err != nil {
				return
			}
		}
	})
}

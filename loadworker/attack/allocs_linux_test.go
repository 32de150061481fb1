//go:build !race

package attack

import (
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/trace"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A step itself allocates; what grows with the number of hits is theirs. The race
// detector allocates too, so that this is a test without it.
func TestArrivalsAllocateNothing(t *testing.T) {
	d := onlyEventLoops(t, "vegeta makes a request and a result for each hit")
	for name, traced := range map[string]int64{"without traces": 0, "with traces": trace.Whole} {
		t.Run(name, func(t *testing.T) { checkArrivals(t, d.runner(t, setup{url: frugal(t), maxConns: 4, traced: traced})) })
	}
}

func checkArrivals(t *testing.T, r *Runner) {
	t.Helper()
	measured := func(rate pace.Rate) (allocated, sent float64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		q := total(t, drive(t, r, arrivalsStep(rate, time.Second)))
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs - before.Mallocs), float64(q.Sent)
	}
	measured(100e6) // opens the connections
	base, few := measured(100e6)
	all, many := measured(10_000e6)
	if many < 10*few {
		t.Fatalf("%v and %v hits were sent: there is nothing to compare", few, many)
	}
	if n := (all - base) / (many - few); n > 0.1 {
		t.Errorf("%.2f allocations for each hit, want none", n)
	}
}

// Think times take no timer and no memory for each request.
func TestThinkingUsersAllocateNothing(t *testing.T) {
	d := onlyEventLoops(t, "the client's deadlines may allocate")
	const users = 50
	r := d.runner(t, setup{url: frugal(t)})
	measured := func(think pace.Think) (allocated, sent float64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		q := total(t, drive(t, r, usersStep(users, ClosedUsers{Duration: time.Second, Think: think})))
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs - before.Mallocs), float64(q.Sent)
	}
	rare, often := pace.Think{Longest: time.Second}, pace.Think{Longest: 10 * time.Millisecond}
	measured(rare) // opens the connections
	base, few := measured(rare)
	all, many := measured(often)
	if many < 10*few {
		t.Fatalf("%v and %v requests were sent: there is nothing to compare", few, many)
	}
	if n := (all - base) / (many - few); n > 0.1 {
		t.Errorf("%.2f allocations for each request, want none", n)
	}
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
	measured := func(requests int64) (allocated, sent float64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := drive(t, r, usersStep(20, Burst{Requests: requests, Limit: time.Minute}))
		runtime.ReadMemStats(&after)
		if j := s.Journeys[0]; j.Completed == 0 || j.Failed > 0 {
			t.Fatalf("%d journeys completed, %d failed", j.Completed, j.Failed)
		}
		return float64(after.Mallocs - before.Mallocs), float64(total(t, s).Sent)
	}
	measured(30) // opens the connections
	base, few := measured(30)
	all, many := measured(1500)
	if n := (all - base) / (many - few); n > 0.1 {
		t.Errorf("%.2f allocations for each request, want none", n)
	}
}

// frugal is a server that allocates nothing for a request.
func frugal(t *testing.T) string {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	go func() {
		for {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			go answerAll(conn)
		}
	}()
	return "http://" + lis.Addr().String()
}

// answerAll takes what it reads at once for a request.
func answerAll(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in, out := make([]byte, 4096), []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	for {
		if _, err := conn.Read(in); err != nil {
			return
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

package source

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// numbered are targets whose paths are their numbers.
func numbered(t *testing.T, n int) *Targets {
	t.Helper()
	targets := &Targets{}
	for i := range n {
		must.Succeed(t, targets.Add(Target{Method: "GET", Path: fmt.Sprintf("/%d", i)}))
	}
	return targets
}

// targetsOf are the paths of the requests of a mix that have targets, by their numbers
// in a step of arrivals.
func targetsOf(s *Source, request int, hits int64) []string {
	var paths []string
	var b Buffer
	for seq := range hits {
		if s.RequestOf(0, seq) == request {
			s.Render(&b, request, Vars{Seq: seq, Order: Order{By: 1}})
			paths = append(paths, string(b.Request.Path))
		}
	}
	return paths
}

func TestTargetsAreSentInTurn(t *testing.T) {
	s := mustNew(t, Config{Requests: []Request{{Name: "replay", Weight: 2, Targets: numbered(t, 3)}, {Name: "other", Weight: 3, Method: "GET", Path: "/other"}}})
	want := []string{"/0", "/1", "/2", "/0", "/1", "/2", "/0", "/1"}
	if diff := cmp.Diff(want, targetsOf(s, 0, 20)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Workers render their own hits only, independent of the others.
func TestTargetsAreDividedOverWorkersExactly(t *testing.T) {
	const workers, hits, targets = 3, 210, 7
	sent := map[string]int{}
	for worker := range int64(workers) {
		s := mustNew(t, Config{Requests: []Request{{Name: "replay", Weight: 1, Targets: numbered(t, targets)}, {Name: "other", Weight: 2, Method: "GET", Path: "/other"}}, Workers: workers})
		var b Buffer
		for seq := worker; seq < hits; seq += workers {
			if s.RequestOf(s.Position(seq), 0) == 0 {
				s.Render(&b, 0, Vars{Seq: seq, Order: Order{Start: worker, By: workers, N: seq / workers, Streams: 1}})
				sent[string(b.Request.Path)]++
			}
		}
	}
	for path, n := range sent {
		if n != hits/3/targets {
			t.Errorf("target %s was sent %d times, want %d", path, n, hits/3/targets)
		}
	}
	if len(sent) != targets {
		t.Errorf("%d targets were sent, want %d", len(sent), targets)
	}
}

func TestUsersTakeTargetsInTurn(t *testing.T) {
	const users = 2
	s := mustNew(t, Config{Requests: []Request{{Name: "replay", Weight: 1, Targets: numbered(t, 5)}}})
	var b Buffer
	for k := range int64(6) {
		for user := range int64(users) {
			s.Render(&b, 0, Vars{User: user, Seq: k*users + user, Users: users, Order: Order{Start: user, By: 1, N: k}})
			if got, want := string(b.Request.Path), fmt.Sprintf("/%d", (k*users+user)%5); got != want {
				t.Errorf("request %d of user %d is %s, want %s", k, user, got, want)
			}
		}
	}
}

// A setup sends requests outside the mix, such as one of weight 0.
func TestTargetsOutsideAMixAreSentInTurn(t *testing.T) {
	s := mustNew(t, Config{Requests: []Request{{Name: "replay", Targets: numbered(t, 3)}, {Name: "other", Weight: 1, Method: "GET", Path: "/other"}}})
	var b Buffer
	s.Render(&b, 0, Vars{Seq: 7, Order: Order{Streams: 1}})
	if got := string(b.Request.Path); got != "/1" {
		t.Errorf("request 7 is %s, want /1", got)
	}
	s.Render(&b, 0, Vars{User: 1, Seq: 5, Users: 2, Order: Order{Start: 1, By: 1, N: 2}}) // of a journey
	if got := string(b.Request.Path); got != "/2" {
		t.Errorf("request 5 is %s, want /2", got)
	}
}

func TestHeadersOfATargetReplaceThoseOfTheRequest(t *testing.T) {
	targets := numbered(t, 1)
	for _, x := range []Target{
		{Method: "GET", Path: "/own", Headers: []Header{{Name: "x-client", Value: "own"}, {Name: "Host", Value: "own.example"}}},
		{Method: "POST", Path: "/body", Body: []byte("b")},
	} {
		must.Succeed(t, targets.Add(x))
	}
	s := mustNew(t, Config{ClientHeader: "X-Client", Requests: []Request{{
		Name: "replay", Weight: 1, Targets: targets,
		Headers: []Header{{Name: "A", Value: "${seq}"}, {Name: "X-Client", Value: "c${seq}"}, {Name: "Host", Value: "all.example"}},
	}}})
	var got []string
	var b Buffer
	for seq := range int64(3) {
		s.Render(&b, 0, Vars{Seq: seq, Order: Order{By: 1}})
		line := fmt.Sprintf("%s %s %s %q", b.Request.Path, b.Client, b.Request.Host, b.Request.Body)
		for _, h := range b.Request.Headers {
			line += fmt.Sprintf(" %s=%s", h.Name, h.Value)
		}
		got = append(got, line)
	}
	want := []string{`/0 c0 all.example "" A=0 X-Client=c0`, `/own own own.example "" A=1 X-Client=own`, `/body c2 all.example "b" A=2 X-Client=c2`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTargetsAllocateNothing(t *testing.T) {
	targets := numbered(t, 100)
	must.Succeed(t, targets.Add(Target{Method: "POST", Path: "/a", Headers: []Header{{Name: "A", Value: "b"}}, Body: []byte("c")}))
	s := mustNew(t, Config{Requests: []Request{{Name: "replay", Weight: 1, Targets: targets, Headers: []Header{{Name: "A", Value: "${seq}"}}}}})
	var b Buffer
	seq := int64(0)
	render := func() {
		s.Render(&b, 0, Vars{Seq: seq, Order: Order{By: 1}})
		seq++
	}
	render()
	if n := testing.AllocsPerRun(1000, render); n > 0 {
		t.Errorf("%v allocations for each request, want none", n)
	}
}

func TestNoTargetsAreRefused(t *testing.T) {
	_, err := New(Config{Requests: []Request{{Name: "replay", Weight: 1, Targets: &Targets{}}}})
	if want := `request "replay": targets: there are none`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

package source

import (
	"strings"
	"testing"
	"testing/quick"
)

// A walk must agree with walking.
func TestWalkCountsWhatAWalkerMeets(t *testing.T) {
	property := func(mask uint32, length, by, start, n uint8) bool {
		takes := make([]bool, length%30+1)
		for i := range takes {
			takes[i] = mask>>i&1 == 1
		}
		w := newWalk(takes, int64(by)+1)
		want, at := int64(0), int(start)
		for range n {
			if takes[at%len(takes)] {
				want++
			}
			at += int(by) + 1
		}
		return w.turns(int64(start), int64(n)) == want
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 20000}); err != nil {
		t.Error(err)
	}
}

func TestTurnsOfManyRequests(t *testing.T) {
	w := newWalk([]bool{true, false, false}, 1)
	if got := w.turns(1, 3_000_000_000_000); got != 1_000_000_000_000 {
		t.Errorf("%d turns, want every third", got)
	}
}

// Of a mix that takes a row every second time, users together take each row in
// turn as often, and so do the arrivals of each worker.
func TestSequentialTakesEachRowAsOften(t *testing.T) {
	table := rows(t, Sequential, "a", "0", "1", "2", "3")
	requests := []Request{
		{Name: "with", Weight: 1, Method: "GET", Path: "/${a}"},
		{Name: "without", Weight: 1, Method: "GET", Path: "/"},
	}
	s := mustNew(t, Config{Requests: requests, Tables: []*Table{table}, Workers: 3})
	orders := map[string]func(i int64) Order{
		"one user":   func(i int64) Order { return Order{By: 1, N: i, Lanes: 1} },
		"five users": func(i int64) Order { return Order{Start: i % 5, By: 1, N: i / 5, Lane: i % 5, Lanes: 5} },
		"arrivals":   func(i int64) Order { return Order{Start: 2, By: 3, N: i, Lanes: 1} },
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			counts := map[string]int{}
			var b Buffer
			for i := range int64(80) {
				o := order(i)
				request := s.Turn(o.Start, o.By*o.N)
				s.Render(&b, request, Vars{Order: o})
				if request == 0 {
					counts[string(b.Request.Path)]++
				}
			}
			for _, path := range []string{"/0", "/1", "/2", "/3"} {
				if counts[path] != 10 {
					t.Errorf("%s was sent %d times of 40: %v", path, counts[path], counts)
				}
			}
		})
	}
	t.Run("of one user, in turn", func(t *testing.T) {
		var b Buffer
		got := ""
		for i := range int64(12) {
			if s.Turn(0, i) == 0 {
				s.Render(&b, 0, Vars{Order: Order{By: 1, N: i, Lanes: 1}})
				got += string(b.Request.Path)
			}
		}
		if got != "/0/1/2/3/0/1" {
			t.Errorf("rows %s, want /0/1/2/3/0/1", got)
		}
	})
	t.Run("of each worker's arrivals, in turn", func(t *testing.T) {
		requests[0].Weight = 2 // a cycle of three, in which each number of workers has other ways
		for workers := range int64(5) {
			s := mustNew(t, Config{Requests: requests, Tables: []*Table{rows(t, Sequential, "a", "0", "1", "2", "3")}, Workers: int32(workers + 1)})
			for worker := range workers + 1 {
				var b Buffer
				got := ""
				for i := range int64(30) {
					o := Order{Start: worker, By: workers + 1, N: i, Lanes: 1}
					if s.Turn(o.Start, o.By*i) == 0 {
						s.Render(&b, 0, Vars{Order: o})
						got += string(b.Request.Path)
					}
				}
				if want := strings.Repeat("/0/1/2/3", 10)[:len(got)]; got != want {
					t.Errorf("worker %d of %d takes %s, want %s", worker, workers+1, got, want)
				}
			}
		}
	})
	t.Run("of the same request again and again", func(t *testing.T) {
		var b Buffer
		got := ""
		for i := range int64(6) {
			s.Render(&b, 0, Vars{Order: Order{N: i, Lanes: 1}})
			got += string(b.Request.Path)
		}
		if got != "/0/1/2/3/0/1" {
			t.Errorf("rows %s, want /0/1/2/3/0/1", got)
		}
	})
}

package source

import (
	"fmt"
	"strings"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestCycle(t *testing.T) {
	tests := map[string]struct {
		weights []int32
		want    []int
	}{
		"one":                           {[]int32{7}, []int{0}},
		"none of its weight":            {[]int32{0, 2, 0, 1}, []int{1, 3, 1}},
		"equal weights take turns":      {[]int32{3, 3, 3}, []int{0, 1, 2}},
		"a common divisor is taken out": {[]int32{80, 20}, []int{0, 0, 1, 0, 0}},
		"spread, not in a row":          {[]int32{5, 1, 1}, []int{0, 0, 1, 0, 2, 0, 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, cycle(tt.weights)); diff != "" {
				t.Errorf("cycle(%v) (-want +got):\n%s", tt.weights, diff)
			}
		})
	}
}

func TestCycleHoldsEachAsOftenAsItsWeight(t *testing.T) {
	property := func(raw []uint8) bool {
		if len(raw) == 0 || len(raw) > 32 {
			return true
		}
		weights := make([]int32, len(raw))
		total := 0
		for i, w := range raw {
			weights[i] = int32(w) + 1
			total += int(w) + 1
		}
		counts := make([]int, len(raw))
		turns := cycle(weights)
		for _, i := range turns {
			counts[i]++
		}
		for i, n := range counts {
			if n*total != int(weights[i])*len(turns) {
				return false
			}
		}
		return true
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

// The order stays close to the weights all the time: a request is never more than
// one position ahead of its share.
func TestCycleIsEven(t *testing.T) {
	weights := []int32{10, 5, 1}
	turns := cycle(weights)
	counts := make([]float64, len(weights))
	for n, i := range turns {
		counts[i]++
		if share := float64(n+1) * float64(weights[i]) / 16; counts[i] > share+1 {
			t.Errorf("after %d turns request %d had %v, its share is %.2f", n+1, i, counts[i], share)
		}
	}
}

func TestCycleCounterAgreesWithVisitingEachRequest(t *testing.T) {
	property := func(mask uint32, length, by, start, n uint8) bool {
		takes := make([]bool, length%30+1)
		for i := range takes {
			takes[i] = mask>>i&1 == 1
		}
		counter := newCycleCounter(takes, int64(by)+1)
		s, inBlocks := Source{block: blockOf(int64(len(takes)), int64(by)+1)}, newCycleCounter(takes, int64(by)+1)
		if s.block > 0 {
			inBlocks.visitRings()
		}
		worker := int64(start) % (int64(by) + 1)
		want, wantInBlocks, at, arrival := int64(0), int64(0), int(start), worker
		for range n {
			if takes[at%len(takes)] {
				want++
			}
			if takes[s.Position(arrival)%int64(len(takes))] {
				wantInBlocks++
			}
			at, arrival = at+int(by)+1, arrival+int64(by)+1
		}
		return counter.count(int64(start), int64(n)) == want && inBlocks.count(worker, int64(n)) == wantInBlocks
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 20000}); err != nil {
		t.Error(err)
	}
}

func TestCycleCounterCountsTrillionsOfRequests(t *testing.T) {
	counter := newCycleCounter([]bool{true, false, false}, 1)
	if got := counter.count(1, 3_000_000_000_000); got != 1_000_000_000_000 {
		t.Errorf("%d rows, want one for every third request", got)
	}
}

// Half of the mix takes a row. Users together take each row equally often, and so
// do the arrivals of each worker.
func TestSequentialTakesEachRowAsOften(t *testing.T) {
	table := rows(t, Sequential, "a", "0", "1", "2", "3")
	requests := []Request{{Name: "with", Weight: 1, Method: "GET", Path: "/${a}"}, {Name: "without", Weight: 1, Method: "GET", Path: "/"}}
	s := mustNew(t, Config{Requests: requests, Tables: []*Table{table}, Workers: 3})
	for name, order := range map[string]func(i int64) Order{
		"one user":   func(i int64) Order { return Order{By: 1, N: i, Streams: 1} },
		"five users": func(i int64) Order { return Order{Start: i % 5, By: 1, N: i / 5, Stream: i % 5, Streams: 5} },
		"arrivals":   func(i int64) Order { return Order{Start: 2, By: 3, N: i, Streams: 1} },
	} {
		t.Run(name, func(t *testing.T) {
			taken := rowsTaken(s, 80, order)
			for _, path := range []string{"/0", "/1", "/2", "/3"} {
				if n := strings.Count(taken, path); n != 10 {
					t.Errorf("%s was sent %d times of 40: %s", path, n, taken)
				}
			}
		})
	}
	for name, got := range map[string]string{
		"of one user":                         rowsTaken(s, 12, func(i int64) Order { return Order{By: 1, N: i, Streams: 1} }),
		"of the same request again and again": rowsTaken(s, 6, func(i int64) Order { return Order{N: i, Streams: 1} }),
	} {
		if got != "/0/1/2/3/0/1" {
			t.Errorf("rows %s, in turn: %s, want /0/1/2/3/0/1", name, got)
		}
	}
	t.Run("of each worker's arrivals, in turn", func(t *testing.T) {
		requests[0].Weight = 2 // a cycle of three, of which a worker in three would have one request alone
		for workers := range int64(6) {
			s := mustNew(t, Config{Requests: requests, Tables: []*Table{rows(t, Sequential, "a", "0", "1", "2", "3")}, Workers: int32(workers + 1)})
			for worker := range workers + 1 {
				got := rowsTaken(s, 30, func(i int64) Order { return Order{Start: worker, By: workers + 1, N: i, Streams: 1} })
				if want := strings.Repeat("/0/1/2/3", 5); got != want {
					t.Errorf("worker %d of %d takes %s, want %s", worker, workers+1, got, want)
				}
			}
		}
	})
}

// Journeys and requests of a mix take rows each, whichever items are beside them; a session has a row of its own likewise.
func TestItemsTakeEachRowAsOften(t *testing.T) {
	const n = 80
	for workers := range int64(3) {
		workers++
		users, all := rows(t, Uniform, "u", "0", "1", "2", "3"), rows(t, Sequential, "a", "0", "1", "2", "3")
		requests := []Request{{Name: "in journey", Method: "GET", Path: "/j${u}${a}"}, {Name: "with", Weight: 1, Method: "GET", Path: "/w${a}${u}"}, {Name: "without", Weight: 2, Method: "GET", Path: "/"}}
		journeys := []Journey{{Name: "j", Weight: 1, User: users, Steps: []JourneyStep{{Request: 0, Times: 1}, {Request: 0, Times: 1, If: "u == '1'"}}}}
		s := mustNew(t, Config{Requests: requests, Journeys: journeys, Tables: []*Table{users, all}, Workers: int32(workers)})
		var ofUsers, ofAll [4]int
		walk, b := s.NewWalk(0, 0, 1), Buffer{}
		for k := range int64(n) {
			walk.Begin(workers-1+k*workers, k)
			walk.Render(&b, Vars{})
			path := string(b.Request.Path)
			if row, ok := strings.CutPrefix(path, "/j"); ok {
				ofUsers[row[0]-'0']++
				ofAll[row[1]-'0']++
				if m := walk.Next(true, pace.Draws{}); m.Over == (row[0] == '1') {
					t.Errorf("a session that sends %s goes on: %t", path, !m.Over)
				}
			} else if row, ok := strings.CutPrefix(path, "/w"); ok {
				ofAll[row[0]-'0']++
			}
		}
		const each = n / 4 / 4 // of the mix, and of the rows
		same.As(t, fmt.Sprintf("of %d workers, rows of users", workers), [4]int{each, each, each, each}, ofUsers)
		same.As(t, fmt.Sprintf("of %d workers, rows in turn", workers), [4]int{2 * each, 2 * each, 2 * each, 2 * each}, ofAll)
	}
}

// rowsTaken are the paths of the first request of a mix, as it comes in n turns of an order.
func rowsTaken(s *Source, n int64, order func(i int64) Order) (paths string) {
	var b Buffer
	for i := range n {
		o := order(i)
		if s.RequestOf(s.Position(o.Start+o.By*o.N), 0) == 0 {
			s.Render(&b, 0, Vars{Order: o})
			paths += string(b.Request.Path)
		}
	}
	return paths
}

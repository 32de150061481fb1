package world

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/golden"
)

var (
	every  = flag.Int("every", 211, "insert each fault at every n-th event; 1: at all of them")
	seeds  = flag.Int("seeds", 30, "how many runs with several faults at random instants")
	traces = flag.Int("traces", 3, "how many violations are reported with all that happened")
	first  = flag.Int("seed", 0, "the first seed")
)

// total is what was checked, of the runs that are planned.
var total struct {
	sync.Mutex
	runs, planned, states, violations int
	said                              time.Time
}

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		os.Exit(0) // a check of a part of the instants would say little
	}
	total.said, total.planned = time.Now(), *seeds+3*len(stories()) // each story three times without faults
	code := m.Run()
	fmt.Printf("model: %d runs, %d states, %d violations\n", total.runs, total.states, total.violations)
	os.Exit(code)
}

// tell runs a world to its end, and reports what it violates.
func tell(t *testing.T, w *World) {
	t.Helper()
	w.runFaulty()
	total.Lock()
	defer total.Unlock()
	total.runs++
	total.states += w.states
	total.violations += len(w.violations)
	if now := time.Now(); now.Sub(total.said) >= time.Minute {
		total.said = now
		fmt.Printf("so far: %d of about %d runs, %d states, %d violations\n", total.runs, total.planned, total.states, total.violations)
	}
	if len(w.violations) > 0 {
		if total.violations <= *traces {
			t.Errorf("%v\n%s", w.violations, w)
			return
		}
		t.Errorf("story %q, %v: %v", w.name, w.faultNames(), w.violations)
	}
}

// The stories are what their names say: none ends before it has come to what it is about.
func TestStoriesEndAsTold(t *testing.T) {
	var text strings.Builder
	for _, s := range stories() {
		w := s.newWorld()
		tell(t, w)
		e := endingOf(w)
		fmt.Fprintf(&text, "%s: %s after %v, sent %v\n", s.name, e.verdict, e.took, e.sent)
	}
	golden.Check(t, filepath.Join("testdata", "endings.txt"), text.String())
}

// longStory is how many events a story may have until its faults are inserted farther
// apart, except with -every 1: each of its runs takes longer, and there would be more.
const longStory = 150

// Every story ends as it does, with one fault at any of its instants.
func TestEveryFaultAtEveryInstant(t *testing.T) {
	for offset, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			w := s.newWorld()
			tell(t, w)
			s.ending = endingOf(w)
			stride := *every
			if stride > 1 {
				stride *= 1 + w.events/longStory
			}
			var insertions []map[int][]fault
			for _, f := range faults {
				for at := offset % stride; at < w.events; at += stride {
					insertions = append(insertions, map[int][]fault{at: {f}})
				}
				offset += 7 // other instants for each fault
			}
			total.planned += len(insertions)
			t.Parallel()
			for _, each := range insertions {
				faulty := s.newWorld()
				faulty.faults = each
				tell(t, faulty)
			}
		})
	}
}

// Every story ends as it does, with several faults at random instants and what is due
// at once in random order.
func TestFaultsAtRandomInstants(t *testing.T) {
	list := stories()
	for _, s := range list {
		w := s.newWorld()
		tell(t, w)
		s.ending = endingOf(w)
		s.ending.events = w.events
	}
	for seed := *first; seed < *first+*seeds; seed++ {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		s := list[r.IntN(len(list))]
		w := s.newWorld()
		w.Shuffle, w.holdsInputs = r, true
		for range 1 + r.IntN(5) {
			at := r.IntN(s.ending.events)
			w.faults[at] = append(w.faults[at], faults[r.IntN(len(faults))])
		}
		tell(t, w)
	}
}

package main

import (
	"sort"
	"sync"
	"time"
)

const (
	// tick is how often the target looks whether it runs.
	tick = 10 * time.Millisecond
	// stoodFrom is from which lateness of a look on the target stood still: a processor that
	// is shared keeps it waiting for less.
	stoodFrom = 10 * time.Millisecond
	// around is how long before its first request, and after its last one, a name is asked
	// for: what comes while the target stands still is counted when it goes on.
	around = time.Second
	// mostStalls bounds what is kept. There are at most 50 in a second, and the later half is
	// kept: that of a quarter of an hour, which no run takes.
	mostStalls = 90_000
)

// times are what this process knows of its own slowness.
type times struct {
	mu    sync.Mutex
	names map[string]*span
	// stalls are in the order of time, as one ends before the next begins.
	stalls []stall
}

// span is when a name was asked for, and the longest time that the target took by itself.
type span struct {
	first, last time.Time
	longest     time.Duration
}

// stall is a time in which the target stood still.
type stall struct {
	from   time.Time
	length time.Duration
}

func (s stall) end() time.Time { return s.from.Add(s.length) }

// watch looks at the clock until the process ends.
func (t *times) watch() {
	for before := time.Now(); ; {
		time.Sleep(tick)
		now := time.Now()
		t.looked(before, now)
		before = now
	}
}

// looked notes that the target looked at the clock, and when it did so before.
func (t *times) looked(before, now time.Time) {
	late := now.Sub(before) - tick
	if late < stoodFrom {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.stalls) == mostStalls {
		t.stalls = append(t.stalls[:0], t.stalls[mostStalls/2:]...)
	}
	t.stalls = append(t.stalls, stall{before, late})
}

// answered notes that a request was answered, beyond a delay that it asked for.
func (t *times) answered(name string, from, to time.Time, delay time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.names[name]
	if s == nil {
		s = &span{first: from}
		if t.names == nil {
			t.names = map[string]*span{}
		}
		t.names[name] = s
	}
	if to.After(s.last) {
		s.last = to
	}
	s.longest = max(s.longest, to.Sub(from)-delay)
}

// of is the longest time that the target took for a request of a name, and for how long it
// stood still, in all, from shortly before the first to shortly after the last of them.
func (t *times) of(name string) (longest, stood time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.names[name]
	if s == nil {
		return 0, 0
	}
	from, to := s.first.Add(-around), s.last.Add(around)
	first := sort.Search(len(t.stalls), func(i int) bool { return t.stalls[i].end().After(from) })
	for _, x := range t.stalls[first:] {
		if !x.from.Before(to) {
			break
		}
		stood += x.length
	}
	return s.longest, stood
}

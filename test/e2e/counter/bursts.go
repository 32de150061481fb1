package main

import (
	"sync"
	"time"
)

// betweenBursts is how long no request comes after a burst.
const betweenBursts = time.Second / 2

// bursts counts requests that come one after another, by their names.
type bursts struct {
	mu sync.Mutex
	of map[string]burst
}

type burst struct {
	last time.Time
	came int
}

// place is which request of its burst one is, from 1.
func (b *bursts) place(name string, at time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.of[name]
	if at.Sub(now.last) >= betweenBursts {
		now = burst{}
	}
	now.came++
	if at.After(now.last) {
		now.last = at
	}
	if b.of == nil {
		b.of = map[string]burst{}
	}
	b.of[name] = now
	return now.came
}

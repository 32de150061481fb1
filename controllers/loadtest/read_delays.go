package loadtest

import (
	"sync"
	"time"
)

// delays are how long it took from the pass that wrote a status to the one that read it
// back: the API server, the watch and the queue of passes. The zero value is ready.
type delays struct {
	mu   sync.Mutex
	ring [256]delay // the latest, of all runs
	next int
}

type delay struct {
	at   time.Time
	took time.Duration
}

// remembered is how long a delay counts: a server that was busy a minute ago may be so
// again when the next step begins.
const remembered = time.Minute

func (d *delays) add(at time.Time, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ring[d.next%len(d.ring)] = delay{at, took}
	d.next++
}

// longest is the longest of late.
func (d *delays) longest(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var longest time.Duration
	for _, x := range d.ring {
		if now.Sub(x.at) < remembered {
			longest = max(longest, x.took)
		}
	}
	return longest
}

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"sync"
	"time"
)

// attacked is the coordinator, and what it is shown.
type attacked struct {
	to         string
	token, run string
	trust      *tls.Config
}

// attack is one kind of attack.
type attack struct {
	// atOnce is how many connections it has, and pause the time before one that was ended
	// is replaced.
	atOnce int
	pause  time.Duration
	// try carries out one, and returns how much it sent, and how it was ended.
	try func(context.Context) (sent int64, how error)
}

var (
	// errKept says that the coordinator did not end the connection.
	errKept = errors.New("the connection was kept")
	// errUnreached says that the attack could not be tried.
	errUnreached = errors.New("the coordinator was not reached")
)

// attacks are all of them by name.
func (a *attacked) attacks() map[string]attack {
	all := map[string]attack{
		"idle":              {1500, 3 * time.Second, a.sayNothing},
		"half a handshake":  {100, time.Second, a.stopInHandshake},
		"after a handshake": {100, time.Second, a.stopAfterHandshake},
		"junk tokens":       {4, 20 * time.Millisecond, a.showJunk},
		"giant message":     {1, time.Second, a.sendGiant},
		"giant hello":       {1, time.Second, a.sendGiantHello},
	}
	maps.Copy(all, a.floods())
	return all
}

// begin attacks until the context ends.
func (a attack) begin(ctx context.Context, name string, all *tallies) {
	for range a.atOnce {
		go func() {
			for ctx.Err() == nil {
				all.begin(name)
				sent, how := a.try(ctx)
				all.end(name, sent, how)
				wait(ctx, a.pause)
			}
		}()
	}
}

func wait(ctx context.Context, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// tally is what became of the attacks of one kind.
type tally struct {
	Tried int64 `json:"tried"`
	// Ended are those that the coordinator ended, Kept those that it did not, and Unreached
	// those that did not come so far.
	Ended     int64 `json:"ended"`
	Kept      int64 `json:"kept"`
	Unreached int64 `json:"unreached"`
	// Most is how many bytes one of them sent, and Said how the last one was ended.
	Most int64  `json:"most"`
	Said string `json:"said"`
}

// tallies are those of all kinds by name.
type tallies struct {
	mu  sync.Mutex
	all map[string]tally
}

func (t *tallies) begin(name string) { t.change(name, func(n *tally) { n.Tried++ }) }

func (t *tallies) end(name string, sent int64, how error) {
	t.change(name, func(n *tally) {
		n.Most = max(n.Most, sent)
		switch {
		case errors.Is(how, errUnreached):
			n.Unreached++
			if n.Ended == 0 {
				n.Said = how.Error()
			}
		case errors.Is(how, errKept):
			n.Kept++
		default:
			n.Ended++
			n.Said = how.Error()
		}
	})
}

func (t *tallies) change(name string, by func(*tally)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[string]tally{}
	}
	n := t.all[name]
	by(&n)
	t.all[name] = n
}

func (t *tallies) copied() map[string]tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.all)
}

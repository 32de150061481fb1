package sqlite

import (
	"cmp"
	"fmt"
	"path/filepath"
)

// The states of a log.
type state int

const (
	shut state = iota
	queued
	opening
	opened
	closing
)

// A log goes through its states in turns. Each change is signaled to all waiting
// callers, so that only one of them opens a log:
//
//	shut ──asked for──▶ queued ──place free──▶ opening ──▶ opened
//	  ▲                                                      │ another waits
//	  └────────────── no users are left ────── closing ◀───┘
//
// Logs are opened in the order in which they were asked for. While more of them
// wait than others are being closed, one more begins to close, also if it is in
// use: its users finish, later callers wait until it is open again. So no log is
// kept out for good by others that are always in use, and there are never more open
// than may be.

// advance begins what can be begun. It is called with the lock, when a log waits
// or a turn has ended.
func (d *Databases) advance() {
	for len(d.waiting) > 0 && d.held < d.most {
		l := d.waiting[0]
		d.waiting = d.waiting[1:]
		l.state = opening
		d.held++
		d.turns.Go(func() { d.open(l) })
	}
	for d.closing < len(d.waiting) {
		l := d.leastUsed()
		if l == nil {
			return // until one of those that open is open
		}
		d.shut(l)
	}
}

// leastUsed is the least recently requested of the open logs without users, or else
// of all open logs.
func (d *Databases) leastUsed() *log {
	var least *log
	for _, l := range d.logs {
		if l.state == opened && (least == nil || cmp.Or(cmp.Compare(min(l.users, 1), min(least.users, 1)), cmp.Compare(l.used, least.used)) < 0) {
			least = l
		}
	}
	return least
}

// enqueue asks for a log to be opened.
func (d *Databases) enqueue(l *log) {
	l.state, l.turn = queued, newTurn()
	d.waiting = append(d.waiting, l)
	d.advance()
}

// open is the turn from opening to opened, or back to shut.
func (d *Databases) open(l *log) {
	s, err := d.openFile(filepath.Join(d.dir, l.name+".db"), d.options)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.held--
		l.finish(shut, fmt.Errorf("log %s: %w", l.name, err))
	} else {
		l.store, l.turn.store = s, s
		l.finish(opened, nil)
		if d.closed {
			d.shut(l)
		}
	}
	d.advance()
}

// shut begins the turn from opened to shut.
func (d *Databases) shut(l *log) {
	l.state, l.turn, l.idle = closing, newTurn(), make(chan struct{})
	if l.users == 0 {
		close(l.idle)
	}
	d.closing++
	d.turns.Go(func() { d.close(l, l.store, l.idle) })
}

// close waits for the users of the log, unless all logs are closed.
func (d *Databases) close(l *log, s *Store, idle <-chan struct{}) {
	select {
	case <-idle:
	case <-d.ending:
	}
	err := s.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.failed = nil; err != nil {
		l.failed = fmt.Errorf("close log %s: %w", l.name, err)
	}
	l.last, l.store = s.Position(), nil
	d.held--
	d.closing--
	l.finish(shut, nil)
	d.advance()
}

// Package attack drives one worker's share of a step against the target and
// measures it. It is the only package that imports vegeta.
//
//	Runner ── keeps the connections from step to step
//	  └─ Execution ── one step: start, window, drain, cut; a snapshot at any time
//	      ├─ engine ── what is due: arrivals, or paced, closed and burst users
//	      │    ├─ loop ── an event loop for each processor; its feed says what is
//	      │    │    sent next, and over which connection
//	      │    │      crowd: users, of which each has its own
//	      │    │      hits: arrivals, which share a stock of them
//	      │    └─ where there can be no loop: a goroutine for each user, and for
//	      │         arrivals vegeta's Attacker, with our pacer and round tripper
//	      └─ recorder ── counts and histograms, in shards
//
// Which engine it is follows from the client: connections over plain HTTP/1.1 on
// Linux go to loops, all others do not. Both mean the same; the tests run over
// both.
//
// Vegeta has no notion of a user, keeps no due time, cannot be cancelled and
// does not say what it never sent. So only arrivals, which have no users, go
// through its Attacker: it runs the open loop and grows its workers as responses
// slow down, while what is sent, when it was due and what became of it is
// decided and recorded in the round tripper, from the sequence number alone.
//
// All times of a step are durations since the beginning of its window, read from
// the monotonic clock. The window is half open: what is due at its end is not in
// it. A warm-up comes before it: what is due then, at a negative time, is sent by
// the same engine, and not recorded.
package attack

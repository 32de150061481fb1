// Package attack drives one worker's share of a step against the target and
// measures it. It is the only package that imports vegeta.
//
//	Runner ── keeps the connections from step to step
//	  └─ Execution ── one step: start, window, drain, cut; a snapshot at any time
//	      ├─ schedule ── when requests are due: arrivals, or paced, closed and
//	      │    burst users
//	      ├─ scheduler ── sends a part of it, and counts what became of it
//	      │    ├─ feed ── what is sent next, and over which connection
//	      │    │    ├─ userFeed: each user has its own
//	      │    │    └─ arrivalFeed: arrivals share a pool of idle ones
//	      │    └─ driver ── how it is sent
//	      │         ├─ loopDriver: an event loop
//	      │         ├─ goroutineDriver: a goroutine for each connection
//	      │         └─ vegetaDriver: vegeta's Attacker, for arrivals
//	      └─ recorder ── counts and histograms, in shards
//
// Which driver it is follows from the client: connections over plain HTTP/1.1 on
// Linux go to event loops, one for each processor, all others do not. All drivers
// mean the same, since what is due, sent and recorded is the scheduler's; the
// tests run over each of them.
//
// Vegeta has no notion of a user, keeps no due time, cannot be cancelled and
// does not say what it never sent. So only arrivals, which have no users, go
// through its Attacker: its dispatcher asks the scheduler when to go on, and its
// workers, which become more as responses slow down, carry the requests.
//
// All times of a step are durations since the beginning of its window, read from
// the monotonic clock. The window is half open: what is due at its end is not in
// it. A warm-up comes before it: what is due then, at a negative time, is sent by
// the same driver, and not recorded.
package attack

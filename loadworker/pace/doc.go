// Package pace decides when requests are due, and waits for it.
//
// The schedules are pure functions of numbers: which request of a step is due
// when, how many are due by an instant, and which of them belong to one worker.
// All arithmetic is exact, in 128 bits, so that the shares of all workers are
// together the whole schedule, whatever the rate and however long the step.
//
//	hit number i of a step ── due at i/rate after the start
//	  arrivals: worker w of W has the hits w, w+W, w+2W, …
//	  users:    user u's k-th request is hit k*total+u; a worker has users
//
// The waiting is the only part that touches a clock. It imports nothing of ours.
package pace

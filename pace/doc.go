// Package pace decides when requests are due: for the operator, which plans how many there are,
// and for the workers, which send them.
//
// The schedules are pure functions of numbers: when each request of a step is due,
// how many are due by an instant, and which of them belong to one worker. All
// arithmetic is exact to the nanosecond, in 128 or 192 bits, so that the shares of
// all workers are together the whole schedule, at any rate and for any length.
//
//	hit number i of a step ── due at i/rate after the start, or as a Ramp says
//	  arrivals: worker w of W has the hits w, w+W, w+2W, …
//	  users:    user u's k-th request is hit k*total+u; a worker has a share of users
//	  ramp of users: user u takes part for a while, and has a schedule of its own
//	  Poisson:  each worker has a random process of its own, with a W-th of the rate
//
// Time 0 is the beginning of the step's window. A warm-up is before it.
//
// Nothing here reads a clock. The package imports nothing of ours.
package pace

// Package source says what is sent: which request of the mix comes next, and
// its text with the variables filled in.
//
// Templates are compiled once, and rendered into buffers that are reused. The
// mix is exact: the weights become a cycle that is walked through, not odds.
// All that is random follows from the seed of the run, the step and the number
// of the request, so that the same seed gives the same requests, whenever they
// are sent.
//
//	Source ── requests, the cycle of the mix
//	  ├─ Template ── literal and variables; a variable may be a column of
//	  ├─ Table ── a worker's rows, and how one is chosen
//	  │    Order ── which turn a request has, for rows that are taken in turn
//	  └─ Expectation ── which responses are as they should be
//
// A row goes into requests as it is written. What would break their framing, such
// as a line break in a header, is refused before anything is sent.
//
// It imports package transport for the shape of a request, and nothing else of
// ours.
package source

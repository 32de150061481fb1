// Package source decides what is sent: the request of the mix that comes next, and
// its text with the variables filled in.
//
// Templates are compiled once, and rendered into buffers that are reused. The mix
// is exact: the weights become a cycle of requests, not probabilities. All random
// values follow from the seed of the run, the step and the number of the request,
// so that the same seed gives the same requests, whenever they are sent.
//
//	Source ── requests, and the cycle of the mix
//	  ├─ Template ── literals and variables; a variable may be a column of a
//	  ├─ Table ── a worker's rows, and how a request chooses one
//	  │    Order ── the position of a request, for rows that are taken in order
//	  ├─ Call ── of gRPC: a template in JSON, encoded by package message
//	  ├─ Expectation ── the responses that are expected
//	  └─ Walk ── a user's way through journeys: what it captures, and which step its conditions permit next
//
// A row goes into requests as it is written. A row that would break their framing,
// such as one with a line break for a header, is refused before the run.
//
// It imports package transport for the shape of a request, message for those of calls, expression
// for the conditions of journeys, selector for values of pages, text to cut texts, pace, cookie and
// failure, and nothing else of ours.
package source

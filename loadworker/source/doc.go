// Package source says what is sent: which request of the mix comes next, and
// its text with the variables filled in.
//
// Templates are compiled once, and rendered into buffers that are reused. The
// mix is exact: the weights become a cycle that is walked through, not odds.
// All that is random follows from the seed of the run, the step and the number
// of the request, so that the same seed gives the same requests, whichever
// worker sends them.
//
// It imports package transport for the shape of a request, and nothing else of
// ours.
package source

// Package trace draws the trace contexts of requests, and writes the header in which they
// go to the target (W3C Trace Context).
//
// Every request has a context of its own, and the sampled flag is set in a share of them: a
// tracer whose sampler is based on the parent records these and no others. Requests without
// a header would be roots to it, all of which it may record.
//
// Ids come from the runtime's generators, one for each of its threads, with seeds of the
// system: they are not those of another worker or another run, and take no lock and no
// system call. They do not follow from the run's seed, with which another run would have
// the same traces.
//
// It imports package measure for what an id is, and nothing else of ours.
package trace

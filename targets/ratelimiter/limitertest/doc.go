// Package limitertest is the conformance suite of ratelimiter.Limiter: the
// properties of every strategy (Run), of atomic ones (RunAtomic), of those that
// never deny falsely (RunHonest), and of each protocol (RunFront). Answers are what a
// protocol says.
//
// It imports the domain and nothing of how buckets are stored; the package under
// test supplies that as a Factory. No rule waits for time to pass: a subject
// says how its time is moved on, and the contracts used here refill so slowly
// that the time a test takes by itself is not worth a token.
package limitertest

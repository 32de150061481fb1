// Package loadtest reconciles LoadTests. Beside scheduling, which creates those of
// schedules, it is the only package that calls the API server; what to do is decided in
// package lifecycle.
//
//	observe ─▶ decide (lifecycle) ─▶ apply ─▶ report
//
// observe reads the LoadTest, its Job and pods, and what the coordinator has
// of its workers. apply creates or deletes the Job and directs the coordinator,
// both from the status as it was read. report writes the status, once, if it
// changed, and emits events after that write succeeded.
//
// What a finished run came to is kept beyond its LoadTest, and announced, by a Keeper
// beside the passes: package sink has where to.
//
// Authenticator, in auth.go, finds for the coordinator the worker that a token belongs
// to. Certificates and Endpoint are how workers trust and find the replica that leads. Lacking
// compares the fields that the API server serves with those of this program.
package loadtest

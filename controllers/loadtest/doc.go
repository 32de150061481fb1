// Package loadtest reconciles LoadTests; what a run does is decided in package lifecycle.
// A pass over one of them has these phases, in this order:
//
//	observe ─▶ decide ─▶ leave ─▶ apply ─▶ look ─▶ store ─▶ report ─▶ keep
//
// observe reads the LoadTest's Job and pods, its place in the queue, its targets, and what
// the coordinator has of its workers. decide (lifecycle) says what is to be done. leave gives
// the place in the queue of a run that ends to others. apply creates or deletes the Job and
// directs the coordinator, both from the status as it was read. look reads the pods behind a
// target, for the next pass. store stores the archive of a step, which is there before the
// status names it. report writes the status, once, if it changed, and emits events after
// that write succeeded: a status is of what was observed, also if apply failed. keep begins
// to keep the results of a finished run beyond its LoadTest, beside the passes.
//
//	the pass            reconciler.go, pass.go (the phases), observe.go, apply.go, store.go, report.go
//	its memory          note.go: lookups.go, archiving.go and refusals.go are parts of it
//	when it is made     run_registry.go, retries.go
//	what it reads       worker_pods.go, missing_pods.go, baseline_reading.go; targetaccess, targetstate/podreader
//	the cache           cache.go, cache_transform.go
//	all runs together   queue.go, write_budget.go, read_delays.go
//	what it tells       metrics.go, transition.go
//
// Below it, lifecycle, plan, desired, queue, search, baseline and targetstate are pure;
// resultkeeper and sink keep results.
package loadtest

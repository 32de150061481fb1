// Package audit says what the suite TestTargets sends to a target, and what a rate
// limiter must have decided after it. It is apart from the cluster, so that it is tested
// without one:
//
//	values files ──► Preset ──► Spec            what is installed, sent and audited
//	status ────────► Tally ──┐
//	limiter's counts ────────┴► Limits, Taken   what it decided, and may have
//	event store ─────────────► Events           dense and unique positions
//	                     └────► Line            the report of it
//
// What the other targets stored is judged by the audits of the LoadTest itself.
//
// A request is acknowledged when its response was as expected, unknown when it may
// or may not have been carried out, and otherwise not carried out. What a limiter
// counted is exactly what was acknowledged, and of the unknown any part:
//
//	acknowledged <= counted <= acknowledged + unknown
//
//	unknown =   timed out + unfinished      in a run without disturbance
//	          + broken off + answered 5xx   when a pod of the limiter is killed
//
// Its replicas count their own decisions, and when one is killed with its count, Redis
// still has the count of the tokens that it gave out.
//
// It imports the API types and the standard library, and no client.
package audit

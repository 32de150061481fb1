// Package resultkeeper keeps what a finished run came to beyond its LoadTest, and announces
// its verdict.
//
//	lifecycle ─ Keep ─▶ an attempt, beside the passes ─▶ sink
//	          ◀─ Keeping ─ what came of it
//
//	keeper.go          the attempts: a few at once, one of each kind for a run
//	result_keeping.go  which attempts a decision begins, and where results are kept
//	archived_list.go   what is kept: the LoadTest and the results of its steps
//	announcement.go    what the webhook is sent
//
// Package sink has where to; this package has what, and reads it.
package resultkeeper

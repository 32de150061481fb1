// Package decision decides what a LoadTestSchedule does next.
//
//	spec, status, what is there, now ── Decide ─▶ the LoadTest to start, those to delete,
//	                                              the status, and when to decide again
//	template, baseline               ── Run ────▶ the LoadTest
//
// What is due has a name that follows from it alone: the schedule's and the minute of the
// time, or a hash of the generation or of the workload's revision. A LoadTest is created
// under that name before the status says that it was, so that whatever is done twice, by
// a second leader or after a restart, finds the name taken. The status moves on in the
// pass that finds it there. A change of the template is noted in the status first, and
// acted on when it was read back: it has no other name.
//
// Of each LoadTest that finished, the status keeps two figures (Measure), and from them which LoadTests
// changed a level.
//
// It is pure. It may import the standard library, apimachinery's types, the cron library
// and the packages of baselines, change points, metrics, rungs, results and statistics.
package decision

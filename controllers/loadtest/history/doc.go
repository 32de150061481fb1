// Package history reads LoadTests that passed, as the baseline of another run.
//
//	of a schedule    cache: which LoadTests there are ─▶ API server: each of the newest, whole ─▶ baseline.Level
//	with some labels API server: which have them      ─▶ API server: the newest, whole
//
// Of a schedule, one is read at a time and reduced to its figures: sixty of them may have as many megabytes.
// The account of the caller has to be able to list LoadTests. It writes nothing.
package history

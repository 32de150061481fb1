// Package history reads the LoadTests of a schedule that passed, as the baseline of another run.
//
//	cache: which LoadTests there are ─▶ API server: each of the newest, whole ─▶ baseline.Level
//
// One is read at a time and reduced to its figures: sixty of them may have as many megabytes.
// The account of the caller has to be able to list LoadTests. It writes nothing.
package history

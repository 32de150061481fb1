// Package verdict judges what was measured: a finished step against the
// thresholds, and a finished run as a whole.
//
//	finished step ─ Judge ─▶ []ThresholdStatus   the worst of all steps so far,
//	                                             in every repetition
//	finished run  ─ Final ─▶ Judgement           Passed, Failed or Inconclusive
//
// Failed means that the target breached a threshold. Inconclusive means that the
// figures say nothing about the target: the load was not the planned one, a worker was
// lost, samples were too few. Passed is left for when neither is the case, so
// that a Passed can be believed. Each result carries the sentence that explains
// it.
//
// A bound on the difference to the baseline is judged in a step's last repetition, from
// all of them (relative.go); package statistics says how certain a difference is.
//
// It is pure: it may import the API, packages plan, results, baseline, metric, rungs,
// statistics, measure and text and the standard library; no client, clock or logger.
package verdict

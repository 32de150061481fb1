// Package rungs finds in the steps of two runs what can be compared.
//
//	[]StepStatus ─ Of ────▶ []Rung      the steps that send load, with their repetitions
//	[]StepStatus ─ Pairs ─▶ []Pair      the steps of a rung that were sent to two targets
//	Rung, Rung   ─ Find ──▶ *Rung       by name and load
//	StepStatus   ─ NameOf ▶ string      its name in the plan, whichever repetition and target it is of
//	StepStatus   ─ Broken ▶ error       too much of it failed, was not sent, or was downtime
//
// Package metric has the values that are compared, statistics says how far they differ, and
// verdict whether that is too much. The package is pure: it may import the API, package
// metric and the standard library, so that the command line compares as the operator does.
package rungs

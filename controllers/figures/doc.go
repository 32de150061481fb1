// Package figures finds in the statuses of two runs what can be compared: the steps of
// the same name and load, and the values of their metrics.
//
//	[]StepStatus ─ Rungs ─▶ []Rung      the steps that send load, with their repetitions
//	[]StepStatus ─ Pairs ─▶ []Pair      those of a rung that were sent to two targets
//	Rung, Rung   ─ Same ──▶ bool        by name and load
//	StepResult   ─ Value ─▶ *big.Rat    of any metric, as an exact number
//	StepStatus   ─ Broken ▶ error       too much of it failed, was not sent, or was downtime
//
// Package change says how far such values differ, package verdict whether that is too
// much. It is pure: it may import the API and the standard library only, so that the
// command line compares as the operator does.
package figures

// Package wire translates measurements to and from the session protocol.
//
//	worker    *measure.Step ──FromStep──▶ StepMeasurement ─ ─ ─▶
//	operator  ─ ─ ─▶ StepMeasurement ──Read──▶ *Reading ──Merge──▶ *measure.Step
//
// Read validates and inflates when a measurement comes, Merge adds up those of
// all workers when someone looks; ToStep is both, for one. FromStep trusts its
// input, Read does not: a worker runs an image and
// answers to a target that the operator knows nothing of, so whatever does not
// add up is refused, with the name of the field that is wrong.
//
// It imports the packages measure and api/worker/v1 and, besides the libraries
// that these two stand on, the standard library only.
package wire

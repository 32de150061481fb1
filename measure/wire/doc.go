// Package wire translates measurements to and from the session protocol.
//
//	worker    *measure.Measurement ──Encode──▶ StepMeasurement ─ ─ ─▶
//	operator  ─ ─ ─▶ StepMeasurement ──Read──▶ *Reading ──Merge──▶ *measure.Measurement
//
// Read validates a measurement when it comes, Merge adds up those of all workers
// when the result is asked for; Decode is both, for one. Encode trusts its input,
// Read does not: the operator cannot trust a worker's image and the target
// that it talks to, so whatever does not add up is refused, with the name of the
// field that is wrong.
//
// It imports the packages measure, text and api/worker/v1 and, besides the
// libraries that these stand on, the standard library only.
package wire

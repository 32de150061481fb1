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
// What is refused, beside what is negative or beyond a bound of its own: due that is not
// sent and unsent; a histogram with more or less entries than requests ended, or, of the
// times without the generator's own delay, than were measured; more requests displaced,
// undecided or excused than there are of the outcome that they are a part of; a timeline
// that does not have its 200 slots.
//
// It imports the packages measure, text and api/worker/v1 and, besides the
// libraries that these stand on, the standard library only.
package wire

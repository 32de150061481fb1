// Package exchange holds the values that pass between the decision about a run and the
// sessions of its workers: a Directive goes to the workers, an Observation comes from
// them.
//
//	lifecycle ── Directive ──▶ coordinator ──▶ workers
//	lifecycle ◀─ Observation ── coordinator ◀── workers
//
// It is pure, and may import the session protocol, the measurement and the standard
// library only.
package exchange

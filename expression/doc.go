// Package expression compiles, checks and evaluates the conditions of journeys: `if` and
// `until`. Their language is CEL without what has no small bound.
//
//	Scope ── what may be named at a place: captured values, columns, status
//	  └─ Condition ── a compiled text; Holds evaluates it with the Values of a user
//
// The operator and the plugin compile a condition to refuse it before a run, a worker to
// evaluate it: all three say the same. A worker evaluates conditions on its event loop, so that
// the time of one is bounded when it is compiled:
//   - a text has at most MaxLength bytes, and names at most maxNames values;
//   - a value has at most MaxValue bytes;
//   - there are no macros but has(), thus no loops, and no matches(): the time of a regular
//     expression is not bounded by its length. Captures have regular expressions;
//   - the cost that CEL estimates for the largest values is at most MaxCost.
//
// A condition that cannot be evaluated is an error, never false. Its sentence has no value:
// these are the target's.
//
// It imports package text to suggest names, and nothing else of ours.
package expression

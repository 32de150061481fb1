// Package archive is the format in which the results of a finished step are kept that
// are too large for a status: histograms by request, and what happened point by point of
// time.
//
//	operator  *Step ──Encode──▶ bytes ─ ─ ConfigMap ─ ─▶ bytes ──Decode──▶ *Step  reader
//
// It is JSON, compressed with gzip, so that a shell can read it. docs/results-format.md
// describes it. What Decode reads, anyone may have written: it is bounded and validated.
//
// It imports the package measure and the standard library only.
package archive

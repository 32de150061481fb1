// Package metric has the table of metrics: a row for each that a threshold may bound.
//
//	                 ┌ Name, Title, Unit, LowerIsBetter, Most
//	v1beta1.Metric ─┤ Value    of a result, as an exact number: microseconds, percent, or plain
//	     (Of)        └ Measured what of a measurement it is counted from
//
// A new metric of a known kind is a row of table.go. Figures are the values of all metrics
// of a result, as a status holds them; Ideal and LateTogether say how sure they are.
//
// Package verdict says how a metric is judged, rungs which steps of two runs can be compared
// by it, and statistics how far its values differ. The package is pure: it may import the
// API, measure, text and the standard library, so that the command line reads a metric as
// the operator does.
package metric

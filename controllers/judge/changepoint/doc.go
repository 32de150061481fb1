// Package changepoint finds the runs of a history from which on a metric has another level.
//
// Of the logarithms y1 … yn of the values, a partition into levels costs
//
//	Σ over levels Σ (yi − mean of the level)² / σ²  +  4 ln n for each change,
//
// and the cheapest partition whose levels have at least three runs is found exactly, by dynamic
// programming (Jackson et al., "An algorithm for optimal partitioning of data on an interval", IEEE
// Signal Processing Letters 12, 2005; PELT, by Killick, Fearnhead and Eckley, JASA 107, 2012, finds the same
// and prunes, which histories of some hundred runs do not need). σ is that of a run, from the median of
// the differences between neighbours, which few changes do not move. A single run that is far from
// those around it is an outlier and no level: the median of five takes its place (Hampel).
//
// The simulation of the test has the part of changes that are found, and of those that are none, beside
// those of E-divisive (Matteson and James, JASA 109, 2014), which needs no σ and takes a thousand times as
// long.
//
// The package is pure: it imports the standard library alone.
package changepoint

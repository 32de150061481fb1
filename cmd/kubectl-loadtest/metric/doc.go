// Package metric has the metrics that tables of differences show, and how they are
// written: those of two LoadTests, and those of the two targets of one.
//
// It may import the API, package text and the standard library.
package metric

// Package hgrm writes the distribution of a step's response times as
// HdrHistogram's tools do and read it: the percentile output, in milliseconds,
// usually in a file that ends in .hgrm.
package hgrm

// Package reporttest has LoadTests for the tests of reports: those of
// report/testdata, which a person wrote, and ladders of any length with histograms.
package reporttest

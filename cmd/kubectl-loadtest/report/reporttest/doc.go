// Package reporttest has LoadTests for the tests of reports: those of
// report/testdata, which a person wrote, ladders of any length with histograms, and
// runs in which something went wrong, request by request.
package reporttest

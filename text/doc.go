// Package text makes texts for people. What came from elsewhere it makes fit to be shown:
// short enough, valid UTF-8, without characters that a terminal would obey. Durations, rates
// and shares it writes in the two or three digits that a status column or a report has.
//
// The operator, the worker, the measurement and the command line all use it, so that a text
// is cut, and a number written, in the same way wherever it is. It imports the standard
// library only.
package text

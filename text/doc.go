// Package text makes a text that came from elsewhere fit to be shown: short
// enough, valid UTF-8, without characters that a terminal would obey.
//
// The operator, the worker and the measurement all cut texts with it, so that a
// text is cut in the same way wherever it is. It imports the standard library
// only.
package text

// Package display shows what a command does while it does it: on a terminal as
// a block that is written over, in a log as lines, few enough to be kept.
//
// It knows writers and widths, not what the lines mean; time is an argument.
package display

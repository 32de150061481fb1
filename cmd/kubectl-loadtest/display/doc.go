// Package display shows what a command does while it does it: on a terminal as a block on
// a screen of its own, in a log as lines, few enough to be kept.
//
// What a terminal would obey is left out of what is shown: names and messages may be of anyone.
//
// It is about writers and sizes, not about what the lines mean but for the marks that it gives a
// colour; time is an argument. The screen is drawn by bubbletea, which draws it anew when
// the window changes; it reads no keys, so that Ctrl-C stays the signal that it is.
package display

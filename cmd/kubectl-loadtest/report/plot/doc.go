// Package plot computes line plots: where each line, mark, tick and label of a
// figure stands. A template, which is here too, turns a Drawing into SVG, which so is
// escaped like the rest of a page, takes its colours from the page's style sheet,
// and prints.
//
//	Scale    a value → its place between the ends of an axis
//	Ticks    round values between the ends
//	Figure   axes, lines, the bands beside them and rules → Drawing
//
// There is no library for it here, since those there are for Go write colours and
// fonts into the SVG, and have no scale of percentiles.
package plot

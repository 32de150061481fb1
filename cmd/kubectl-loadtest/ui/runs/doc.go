// Package runs keeps what is known of LoadTests while a page shows them.
//
//	Cluster.Follow ── list, watch ──▶ Collection ── Subscribe ──▶ pages
//	a local run    ── Put ───────────▶     │
//	                                       ├ Runs       a line of each LoadTest
//	                                       ├ Schedules
//	                                       ├ Whole      the LoadTests that a page shows
//	                                       └ Course     what a run did from update to update
//
// All pages share one Collection, and so one watch for each kind. Of most LoadTests only the
// line of a list is kept: a status may have a megabyte. A watch that breaks is made anew, from
// where it broke if the server still knows that.
//
// What the pages look like is decided in package page.
package runs

// Package page writes the pages of kubectl loadtest ui: what is known of the runs, as HTML.
//
//	site.go       a page and its parts, and the frame around them
//	list.go       what runs and what ended
//	families.go   the runs of a schedule or of a name, and the small trend beside each
//	run.go        a run: its state, and the sections of the report
//	live.go       what a run does now
//	step.go       a step of a run, its requests, and one of them
//	history.go    the runs of a schedule, and the trend of what they sustained
//	compare.go    runs side by side
//	question.go   a question before something is done, and what could not be done
//	*.html, ui.css, live.js
//
// A page is a list of parts, each with a digest: the server sends those whose digest has
// changed to the pages that are open. The package reads values and writes HTML: no client, no
// clock, no network. Package report/html writes the sections of a run; everything is
// escaped by html/template by the place where it stands.
package page

// Package html writes the report of a LoadTest as one page that stands alone: no
// font, no library, no request to a network. Its script shows values in plots, and zooms; the
// page says all of them without. It is read on a screen, light or dark,
// on a phone, on paper, and by a screen reader: beside each plot is a table of the
// same figures, and no colour says what no word or shape says.
//
//	page.go       the page: the verdict and why, what needs attention
//	load.go       figures over the ladder: goodput, response times
//	tail.go       response times by percentile
//	overtime.go   rates and response times over time
//	outstanding.go outstanding requests over time
//	requests.go   a row for each request, and for what it failed with
//	traced.go     the stored traces of each request
//	outcomes.go   what became of the requests
//	loads.go      loads side by side, each with its own report below
//	measured.go   tables of the steps: by type, errors, generator, audits
//	manifest.go   the LoadTest itself
//	compared.go   the page of several LoadTests side by side
//	parts.go      the sections of both pages, for the live page of package ui
//	page.html, compared.html, parts.html, shared.html, page.css, plots.js
//
// Everything is escaped by html/template by the place where it stands, and the page
// forbids all scripts but its own, and requests, to itself by a policy: what a target answers is read
// here, and targets lie.
package html

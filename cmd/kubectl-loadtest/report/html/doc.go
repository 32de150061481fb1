// Package html writes the report of a LoadTest as one page that stands alone: no
// script, no font, no request to a network. It is read on a screen, light or dark,
// on a phone, on paper, and by a screen reader: beside each plot is a table of the
// same figures, and no colour says what no word or shape says.
//
//	page.go       the page: the verdict and why, what needs attention
//	load.go       figures over the ladder: goodput, response times
//	tail.go       response times by percentile
//	overtime.go   rates and response times over time
//	outstanding.go outstanding requests over time
//	traced.go     the stored traces of each request
//	outcomes.go   what became of the requests
//	measured.go   tables of the steps: by type, errors, generator, audits
//	manifest.go   the LoadTest itself
//	compared.go   the page of several LoadTests side by side
//	parts.go      the sections of both pages, for the live page of package ui
//	page.html, compared.html, parts.html, shared.html, page.css
//
// Everything is escaped by html/template by the place where it stands, and the page
// forbids scripts and requests to itself by a policy: what a target answers is read
// here, and targets lie.
package html

// Package document writes what a seed published and what was measured here beneath each
// other, as Markdown with plots in SVG:
//
//	published/    what was published, a file for each seed, with its source
//	published.go  reading it
//	document.go   the document of a seed
//	tables.go     published rows with rows of own figures beneath them, and their count
//	cells.go      an own figure, a conclusion from several, or the reason why there is none
//	figures.go    plots over the ladder, by percentile, by the size of a batch
//	svg.go        a plot as a file that stands alone
//
// All own figures come from records and all published ones from the files: no figure
// stands in this package. It may import how the plugin plots, the judgement's statistics
// and the API.
package document

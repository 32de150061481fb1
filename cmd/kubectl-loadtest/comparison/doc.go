// Package comparison puts finished LoadTests side by side: for each metric a line of each
// test, and how far the others differ from the first, marked where chance does not explain it.
//
//	New ─▶ Comparison ─ Text, Markdown, HTML, JSON ─▶ the page
//
// Steps are compared that have the same name and load, by the median of their
// repetitions; package statistics says how certain a difference is, and chance.go what a result
// knows of its own noise. Nothing is judged here.
// It reads objects and nothing else: no client, clock or terminal.
package comparison

// Package comparison puts finished LoadTests side by side: for each metric a line of each
// test, with the best of each step marked, and how far the others differ from the first.
//
//	New ─▶ Comparison ─ Text, Markdown, HTML ─▶ the page
//
// Steps are compared that have the same name and load, by the median of their
// repetitions; package statistics says how certain a difference is. Nothing is judged here.
// It reads objects and nothing else: no client, clock or terminal.
package comparison

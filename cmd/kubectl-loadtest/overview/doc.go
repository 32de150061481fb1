// Package overview is a list of LoadTests in which those come first that need attention:
//
//	LoadTest ─ New ─▶ Row ─ Sort ─▶ a table, which package command writes
//
// It is pure. What needs attention is read in the conditions that the operator wrote.
package overview

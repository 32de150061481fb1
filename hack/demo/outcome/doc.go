// Package outcome sums up the runs of the demo in a table, and judges whether
// they came out as they should: the Lua script keeps its contract in every
// scenario, and the hash breaks it in the burst of a single client.
//
// It is pure, and may import the API and how package results writes figures.
package outcome

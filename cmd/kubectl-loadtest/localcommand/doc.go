// Package localcommand runs LoadTests on this machine for a person at a terminal: it admits what is
// written in files, shows how a run is getting on, takes interrupts, and prints reports. The commands
// run --local and try do this.
//
// It knows no cluster, links no client of one, and leaves the rules of the API to its caller: so hack/try,
// which make try builds, compiles sooner than the whole plugin.
package localcommand

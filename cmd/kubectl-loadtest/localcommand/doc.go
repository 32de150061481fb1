// Package localcommand runs LoadTests on this machine for a person at a terminal: it admits what is
// written in files, shows how a run is getting on, takes interrupts, and prints reports. The commands
// run --local and try do this.
//
// It knows no cluster, and links no client of one: hack/try, which make try builds, compiles in
// two thirds of the time that the whole plugin takes.
package localcommand

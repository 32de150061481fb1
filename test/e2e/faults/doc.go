// Package faults disturbs runs: TestFaults has the faults of docs/faults.md, TestTakeover replaces
// the operator and stops the API server, others make the machine busy, and TestSoak does it for
// hours. What must become of a run is decided in package fault, and for the soak in package soak.
// Its tests disturb each other, and so run one after another.
package faults

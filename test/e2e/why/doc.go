// Package why is the test of what the operator says of a target at its limits, with a real
// metrics-server and a real Prometheus: a target at its limit of processors, and one that waits for its
// database. It needs images that no other suite but ecosystem needs, and runs only if SUITE asks for
// it.
package why

// Package deploy installs the operator and targets into a cluster as a user would, by
// helm and kubectl from the PATH, for the programs under hack that run load tests there:
//
//	cluster.go   the differences between the kinds of cluster
//	tool.go      programs, and parts of a run with a limit
//	install.go   releases of the charts
//	diagnose.go  why a wait failed
package deploy

// Package configuration has the administrator's configuration read from its ConfigMap, and
// read again when it changes. Package policy says what it means.
//
// Each replica watches it, so that one that takes over has read a stop beforehand. Before
// the first reading no run begins; what is invalid is said in the log and in an event of
// the ConfigMap, and the last valid configuration stays in force.
//
//	source.go   the ConfigMap, and the policy that is in force
//	metrics.go  which configuration is in force, and since when
package configuration

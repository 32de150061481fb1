// Package configuration reads the administrator's configuration from its ConfigMap, and
// reads it again when it changes. Package policy says what it means.
//
// Each replica watches it, so that one that takes over has read a stop beforehand. Before
// the first reading no run begins. The log and an event of the ConfigMap say what is
// invalid; the last valid configuration stays in force.
//
//	source.go   the ConfigMap, and the policy that is in force
//	metrics.go  which configuration is in force, and since when
package configuration

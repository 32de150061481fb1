// Package settings reads a target's flags and environment variables: the flag wins,
// and all mistakes are reported together.
//
// It imports the standard library only.
package settings

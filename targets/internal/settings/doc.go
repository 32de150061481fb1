// Package settings reads what a target is told by flags and by the environment:
// the flag wins, and every mistake is told at once.
//
// It imports the standard library only.
package settings

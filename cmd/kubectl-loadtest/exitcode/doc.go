// Package exitcode has the exit codes of the commands that run LoadTests: one for each verdict, and
// one for a command that was interrupted.
package exitcode

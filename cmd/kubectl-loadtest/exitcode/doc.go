// Package exitcode has the exit codes of the commands that run LoadTests, which are those of
// their verdicts.
package exitcode

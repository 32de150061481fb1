// Command kubectl-loadtest is a kubectl plugin: with it in the PATH, kubectl
// loadtest runs LoadTests, follows them, and prints their reports.
//
//	command   what a person types; calls the API server
//	├─ localcommand runs LoadTests on this machine for a person at a terminal
//	├─ document   reads the objects of files, and knows their lines
//	├─ exitcode   pure: a verdict → an exit code
//	├─ display    a block on a terminal, lines in a log
//	├─ progress   pure: a LoadTest that runs → the lines
//	├─ report     pure: a LoadTest → the page
//	├─ draft      pure: curl commands and the like → a first LoadTest
//	├─ credential pure: which headers have a value that is not shown
//	├─ services   asks a server of gRPC which services it has
//	├─ overview   pure: LoadTests → a list, what needs attention first
//	├─ preview    pure: a LoadTest that has not run → what it will do
//	├─ admission  what an API server does before it stores a LoadTest
//	├─ local      runs a LoadTest without a cluster
//	└─ serve      reference systems in this process, for trying
package main

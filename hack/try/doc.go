// Command try is kubectl loadtest try alone, for make try. It links neither a client of a cluster nor
// the rules of the API, and so compiles sooner than the whole plugin: it is the first that a newcomer
// waits for.
package main

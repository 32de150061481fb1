// Package patience bounds how long callers wait for a service that usually
// answers at once.
//
// While the service answers, a caller waits for its answer. The first that
// waits in vain for as long as the bound allows speaks for all: nobody waits
// any more until somebody says that the service answers again. So an outage
// costs those whom it meets the bound at most, and those after them nothing.
//
// It imports the standard library only.
package patience

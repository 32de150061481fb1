// Command eventstore is the event store. It joins the domain to its
// technologies and owns the settings, the clock and the signals; nothing may
// import it.
package main

// Command tokens is one stand-in for a server of a large language model. It joins the domain
// to its technologies and owns the settings, the clock and the signals; nothing may import it.
package main

// Command messages writes docs/reference/messages.md: every sentence of the product, in one
// place, so that they can be read together and stay alike. It reads the source: strings that
// are longer than a name, with <placeholder> for what a format puts in, and the messages of
// the API's rules. A reason stands beside a text if both are in one statement. make generate
// runs it.
package main

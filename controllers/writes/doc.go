// Package writes has what all that writes to the API server shares: the name under which the
// operator writes, and what a refusal is and how it is worded.
//
//	field_manager.go  the name, and the bound of a message
//	refusal.go        an error of the API server that is about the object
//
// It has no client.
package writes

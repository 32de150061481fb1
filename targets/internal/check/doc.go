// Package check calls a running target as a client would: it waits until the
// target is ready, asks which variant it is, and writes and reads once. It is
// the subcommand "check" of every target, by which helm test and an operator
// find out that an installation works, in images without a shell or a client.
//
//	shortener check --url http://shortener
//
// It owns the requests and replies of these calls, as in the public APIs, and
// imports no target: the checked service may be another build.
package check

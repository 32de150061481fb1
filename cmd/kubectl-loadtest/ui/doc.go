// Package ui serves the live pages of kubectl loadtest ui, on a loopback address, to the person
// who started it.
//
//	guard.go    who may ask: the Host, the secret in the path, from where a form was sent
//	server.go   the paths, and what is written to each
//	views.go    which page is at a path
//	events.go   an open page is told of the parts that have changed
//	writes.go   questions, and what is done when they are answered with yes
//	listen.go   the address, the secret, and the end
//
//	browser ──▶ guard ──▶ views ──▶ package page ──▶ HTML
//	                        ▲
//	                  package runs ◀── one watch of the cluster, or a run of this machine
//
// What is done is done by a Backend, with the rights of the person who started the program.
// Nothing is served before the guard has passed.
package ui

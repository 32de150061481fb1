// Package build compiles the programs of a module and keeps them:
//
//	<cache>/NAME-<hash>/
//	    the programs, and further names of theirs as links
//
// The hash is of everything that goes into the build: the module's files, the
// flags and the Go release. A folder with that name is complete, because it
// gets the name last; a second build is therefore a look at the file system.
//
// It imports the standard library only.
package build

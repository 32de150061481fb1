// Package components lists programs of other projects that tests of the ecosystem run,
// and builds them from source.
//
//	NAME/go.mod   the module that pins a component; its tool directives are the programs, if any
//	build/        how the programs of a module are compiled and kept
//
// No other go.mod sees what a component requires. Tests beside such a go.mod check what we
// ship with the component's own code.
package components

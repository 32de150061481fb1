// Package gotest reads what go test -json prints, for a suite that has some of its checks
// in other modules.
//
// A test there is a check if it has something to show: it sets the attribute "seen" by
// t.Attr. One that fails is a check, too, unless a part of it is. It imports the standard
// library only.
package gotest

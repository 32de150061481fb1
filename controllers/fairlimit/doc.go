// Package fairlimit bounds how much of something is done at once, so that no namespace has
// all of it.
package fairlimit

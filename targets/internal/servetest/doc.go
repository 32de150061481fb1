// Package servetest runs the command of a target whole: in the process of a test, or in one of its
// own that can be killed.
package servetest

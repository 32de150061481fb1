// Package goimage makes the file tree of an image that holds one static Go
// binary: the binary, the certificates that it verifies servers with, and
// nothing else.
//
// It owns how our binaries are built, not which there are.
package goimage

// Package rootfs holds the file tree of an image and turns it into an image of
// one layer. It owns reproducibility: entries in order of their path, zero
// timestamps, numeric owners, no setuid bits.
//
// It has neither recipes nor the places that files come from, and imports no other
// package of this module.
package rootfs

// Package debimage makes the file tree of an image from Debian packages, for
// the clusters that cannot pull the official images.
//
//	the host's apt sources ── mmdebstrap ── trim ── cache ── tree
//
// Packages are extracted, not installed: no maintainer script runs, so that the
// result depends on the packages alone, and what only installing needs (dpkg,
// perl, init scripts) can go. It owns what is trimmed and how long the cache
// holds; it does not say which images there are.
package debimage

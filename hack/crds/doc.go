// Package crds pins the modules that have the CRDs of kinds which the charts
// render and others define. Package test/apiserver reads the files; nothing is
// compiled.
//
// The module is its own so that what these modules need is in nobody else's
// module graph, and none of it is downloaded.
package crds

// Package test brings a cluster up and down on this host and looks at
// everything in between: it is the test of what the other packages' tests
// cannot reach.
//
//	footprint of the host ─▶ up ─▶ pods, DNS, services, tokens, logs, policies,
//	  volumes ─▶ a node lost and back ─▶ everything killed ─▶ up ─▶ down ─▶ the same footprint
//
// It needs root and Linux, takes about two minutes beside the build, and must
// be asked for, since it takes the host's one cluster:
//
//	go test -tags cluster -count=1 -v ./test
//
// The programs in probe are what its pods run.
package test

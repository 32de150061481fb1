// Package peer runs the load generators that ours is compared with: their sources,
// versions, and the arguments for the same load.
//
// Those in Go are built from the Go module proxy; the modules under hack/bench/peers
// fix their versions and every dependency, out of reach of this repository's
// own. wrk and h2load are Debian's; Locust and the libraries of clients of streams are of PyPI,
// by files of requirements. A peer that cannot be had is an error that says why,
// never a row that is silently missing.
package peer

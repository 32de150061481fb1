// Command bench measures the load worker, beside other load generators, and
// against a server that knows the truth. Run it by `make bench-worker`,
// `bench-change`, `bench-accuracy`, `bench-scale`, `bench-targets`, `bench-replay`, `bench-operator`, `bench-start`,
// `bench-shop`, `bench-streams`, `bench-tokens` and `bench-peers`.
//
//	worker    the cost of a request, of a call and of a user: requests per second of one
//	          core, processor time, memory; ours and the peers in turn, round by round
//	accuracy  reported against true figures: quantiles and a stall over each
//	          protocol, the schedule; vegeta with ten workers as the negative control
//	scale     100,000 users of six worker processes
//	targets   one replica of each service on one core, beside a handler with
//	          the same reply and no work
//	replay    when the requests of a log came to the server's kernel, beside a bare sender
//	operator  50 LoadTests at once beside 1,000 finished ones, with simulated workers
//	start     the operator's start beside 1,000 LoadTests and 1,000 schedules of 1.2 MB
//	shop      purchases in a shop, as a LoadTest, a script of k6 and a file of Locust
//	streams   times of the events of streams beside the server's; what an open stream costs,
//	          beside k6 and clients in Python
//	peers     the same load within one cluster by k6-operator, by Locust and by ours
//
//	bench ─┬─ test/groundtruth  the server, which alone counts
//	       ├─ nginx             the server over TLS and HTTP/2, by its own counters
//	       ├─ calls             the server over gRPC, of grpc-go, by its own counters
//	       ├─ shop              the shop, which refuses what is no purchase
//	       ├─ driver            our worker, without an operator
//	       ├─ peer              the others
//	       ├─ bare              net/http, which services are compared with
//	       ├─ sender            a generator that measures nothing, which a replay is compared with
//	       ├─ incluster         tools in a cluster, in the place of processes
//	       └─ simulated         what surrounds an operator, without load
//
// The generator has one core and the server another; this program sleeps
// meanwhile. Ratios within one run carry over to other machines, absolute figures
// do not, so each command ends with a line of ratios. With --record the output
// is also written to docs/results.
package main

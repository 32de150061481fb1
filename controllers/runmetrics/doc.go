// Package runmetrics computes the metrics of LoadTests: of each of them its state, and
// of each that this process has carried out what it sent and measured.
//
//	LoadTests of the cache ──┐
//	merged measurements ─────┼─▶ Collector ──▶ /metrics
//	last statuses ───────────┘
//
// All of it is computed when metrics are collected, from what is in memory anyway; a
// pass over a LoadTest pays for it once, when the run has finished, since the cache does
// not keep the steps of a finished run.
//
// The labels of a LoadTest's series are its namespace, its name, values of closed sets, and
// the names of its requests. Its series end when it is deleted, and the numbers of LoadTests
// and of requests with series are bounded.
//
// It may import no client. What a LoadTest is and was measured to be is given to it.
package runmetrics

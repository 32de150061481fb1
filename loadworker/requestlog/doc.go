// Package requestlog keeps a record of each request of a run on one machine, and writes
// them as vegeta's results, which its report, plot and encode read.
//
//	worker: request ends ──▶ Log ──▶ blocks ──▶ goroutine ──▶ file     (while it is sent)
//	then:   files of all workers ──▶ Write: sort, number ──▶ vegeta's Encoder
//
// To record must not change what is measured. A request that has ended appends some
// bytes to a block in memory; full blocks are written by a goroutine. If that is too slow,
// blocks are dropped: nothing waits for a disk. What is missing in the end is the
// difference to what the run counted, and the results say so in a record of their own.
//
// The timestamp is the instant at which a request was sent, and the latency its service
// time. A request without a whole response has code 0 and an error.
package requestlog

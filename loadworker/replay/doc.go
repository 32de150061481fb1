// Package replay reads an access log for a step that sends its requests: one worker's lines of it,
// with the instants at which they are due, in memory that does not grow with the log.
//
//	file ── accesslog.Reader ── lines of this worker ── filter ── order ─┬─▶ Survey: due counts, before the run
//	        (all lines)         (by a hash of the number)   (a heap)     └─▶ Stream: requests, as they are sent
//
// A log is read twice. The survey is done before anything is sent: it finds what is wrong with the
// file, how many requests are due, and when, so that due counts stay exact while a target or the
// worker itself falls behind. A Stream is read ahead of the step, by a goroutine of its own, into a
// channel that is bounded in requests and bytes. If it is empty, the reader is late: the requests
// are due all the same, and what they are late by is the generator's.
//
// Both passes go over the same bytes in the same way: what was appended to the file since the survey
// is not read.
//
// It imports accesslog and measure, and nothing else of ours.
package replay

// Package accesslog reads the access logs of web servers, proxies and load balancers, line by
// line, in memory that does not grow with the log.
//
//	file ── gzip? ── Reader ── line ──▶ parse ─┬─▶ Entry: time, method, host, path, status
//	                 (at most 64 KiB)          └─▶ Counts: what was no request, and why
//
// The format of each line is recognized by its beginning, so that a log may have lines of
// several, and lines of something else, which are counted:
//
//	{ …                     an object of JSON, whose fields have names of a preset, or the caller's
//	[2026-11-28T10:00:00Z]  the text format of Envoy, or of Istio
//	https 2026-11-28T10:…   an AWS application load balancer
//	anything else           the common or the combined format of Apache and Nginx
//
// A file that begins as an HTTP archive (HAR) does is one document; each of its entries is a line.
//
// A log may have been written by anybody who can send a request: its lines can be of any
// length, and have any bytes. What an Entry has is bounded, and fit for a URL.
//
// It imports the standard library only, and depends neither on the worker nor on the operator.
package accesslog

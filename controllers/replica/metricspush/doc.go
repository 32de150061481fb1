// Package metricspush sends the metrics of a process to a collector by OTLP over HTTP, at intervals.
//
//	registry ─ bridge ─▶ OpenTelemetry SDK ─ protobuf, gzip ─▶ collector
//	                        ▲ headers, authorities and certificate: files, read for each push
//
// It is beside everything else: one push at a time, of bounded size and time, never tried again, since
// the next one has all counters, too. A collector that is away costs a line in the log when that begins
// and when it ends, and is counted.
//
// What a collector answers but its status goes into no log. No redirect is followed: it would take the
// headers elsewhere. Headers are sent over TLS alone.
package metricspush

// Package http serves the URL shortener: links (/{code}, /urls), their counts
// (/stats), and the pages that say how the service is (/health, /ready), what
// it is (/version) and what it has done (/metrics).
//
// It imports the domain, what the targets share and net/http; a throttle, a
// counter and the page of metrics are handed in.
//
//	router.go    the routes; each request is counted once, before its
//	             reply is sent, so that a client with the reply finds it counted
//	redirect.go  the way that nearly every request goes, kept short
//	handler.go   the pages of a process that serves links
//	links.go     the canonical API
//	seeds.go     the originals' shapes of it
//	pages.go     the pages that every process of the service has
//
// # Status of failures
//
// 503 says that nothing was stored. A store that did not answer may have stored the
// link or the click: that is 504, and a client that must know reads the link.
//
// # Readiness
//
// /ready asks the shards, and Redis and Kafka where the variant uses them. With all of
// them it is 200 "ready". With some shards it is 200 "degraded", and names what is
// down: the others' links would be down as well if no client were sent here. So it is
// without Redis or Kafka, since links are still found. Without any shard, or while
// draining, it is 503. A consumer of clicks moves none without its queue: there that
// is 503, too.
package http

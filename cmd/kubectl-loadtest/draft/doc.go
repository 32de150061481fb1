// Package draft makes a first LoadTest from what people have already: a curl command, an
// OpenAPI document, a HAR file of a browser, a targets file of vegeta, the services of a
// server of gRPC, an access log, or a series of rates.
//
//	curl.go, openapi.go, har.go, vegeta.go, grpc.go ──▶ Draft ─ Manifest ─▶ YAML with comments
//	log.go ─┬─ requests: pattern.go ────────────────────▶ ▲
//	        └─ rates: ratecount.go ─┐                     │
//	series.go ──────────────────────┴─▶ shape.go: steps ──┘
//
// A log may be larger than the memory: what is kept of it is bounded.
//
// What it writes is to be read and changed. Credentials are never written: a header that
// carries one becomes a reference to a Secret, and a comment says how to create that. The
// texts of requests are templates in a LoadTest, and are escaped.
//
// It reads no cluster, and imports of ours only packages accesslog, credential and text.
package draft

// Package prometheus asks the administrator's Prometheus what package question wants to know.
//
// All questions about a step are asked at once, and each once: an answer that does not come is not
// known, and the run goes on. A connection is for one step, so that a token or a certificate that
// was renewed is used at once. The token is sent over TLS alone, and to the host of the
// configuration alone: redirects are not followed.
package prometheus

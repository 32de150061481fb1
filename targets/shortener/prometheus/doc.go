// Package prometheus counts what the URL shortener does.
//
// It owns the metrics' names, labels and buckets. It imports the domain and
// client_golang, and registers on the registry it is given. Labels come from closed
// sets only: neither a code nor a client is ever one. Every series exists from the
// start, so that a count of 0 differs from an absent series.
package prometheus

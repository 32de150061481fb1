// Package prometheus counts what the rate limiter decided.
//
// It owns the metrics' names, labels and buckets. It imports the domain and
// client_golang, and registers on the registry it is given. Labels come from
// closed sets only: a client's name is never one.
package prometheus

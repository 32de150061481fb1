// Package prometheus counts what the event store does.
//
// It owns the metrics' names, labels and buckets. It imports the domain and
// client_golang, and registers on the registry it is given. Labels come from
// closed sets only: neither a tenant's name nor an event's type is one.
package prometheus

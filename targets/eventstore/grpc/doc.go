// Package grpc serves the event store over gRPC: appends, reads, the position and
// subscriptions, each of the caller's own log. Package v1 has the messages.
//
// A call is, as over HTTP and by the same budgets, limited by its client's rate,
// authenticated, read, counted against the memory that bodies may take, and
// answered; and it is observed once, when its outcome is known and before the
// client has all of the reply. The library tells the size of a request when it has
// read it: one that takes more than a second to arrive counts as the largest until
// then, and ends with CANCELLED if there is no memory for it.
//
// It imports the domain, what the targets share and grpc-go; stores, a limiter and
// an observer are handed in.
package grpc

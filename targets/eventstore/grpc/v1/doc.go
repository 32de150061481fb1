// Package eventstorev1 is the event store's API over gRPC. The code is generated
// from eventstore.proto.
package eventstorev1

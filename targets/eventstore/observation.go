package eventstore

import "time"

// Operation is what a request asks for. The set is closed, so that it can label
// a metric.
type Operation string

// The operations of the service.
const (
	AppendEvent  Operation = "append"
	AppendBatch  Operation = "append-batch"
	ReadRange    Operation = "read"
	ReadStream   Operation = "stream"
	ReadPosition Operation = "position"
	ReadReader   Operation = "subscription"
	MoveReader   Operation = "subscription-move"
	ListTenants  Operation = "tenants"
)

// Operations returns every operation.
func Operations() []Operation {
	return []Operation{AppendEvent, AppendBatch, ReadRange, ReadStream, ReadPosition, ReadReader, MoveReader, ListTenants}
}

// Outcome is what became of a request. The set is closed.
type Outcome string

const (
	// Done is a request that did what it asked for.
	Done Outcome = "done"
	// Replayed is an append that had been stored before, by its key.
	Replayed Outcome = "replayed"
	// Refused is a request whose sender must change it (4xx, without 429).
	Refused Outcome = "refused"
	// Limited is a request above the sender's rate (429).
	Limited Outcome = "limited"
	// Failed is a request that the service could not answer (5xx).
	Failed Outcome = "failed"
	// Aborted is a reply that was cut off, visibly for the client, or that the
	// client did not wait for.
	Aborted Outcome = "aborted"
)

// Outcomes returns every outcome.
func Outcomes() []Outcome { return []Outcome{Done, Replayed, Refused, Limited, Failed, Aborted} }

// Observation is one request that was answered.
type Observation struct {
	Operation Operation
	Outcome   Outcome
	// Read is how many events were sent to the client.
	Read int
	Took time.Duration
}

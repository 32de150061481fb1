// Package vegeta reports a step as the command vegeta report does, as JSON or as text.
//
// Its figures are those of the status. Vegeta measures from when a request is sent: its
// latencies are the service times. Where the two programs define a figure differently, it
// is ours: success and throughput count successes, and the duration is the window of the step.
package vegeta

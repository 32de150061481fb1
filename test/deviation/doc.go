// Package deviation has what the operator's account must not be able to write, if its
// token is stolen: objects that differ from those that the operator writes. The tests of
// the chart try them against an API server, and those of the cluster against a cluster.
//
// It imports Kubernetes' types and a client, and nothing of the operator's.
package deviation

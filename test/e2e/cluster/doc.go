// Package cluster is what the suites of test/e2e share: clients of the cluster under test,
// namespaces that end with their test, LoadTests and how they are waited for, targets that count,
// the operator's replicas, and what of a suite may be excused on a busy machine.
//
// It knows no suite. The folder of its callers is three below the repository's root.
package cluster

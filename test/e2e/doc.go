// Package e2e tests the operator in a real cluster: real nodes, real workers,
// real targets. It is built with the tag e2e and run by `make e2e`, which brings
// the cluster up and loads the images.
//
// The oracle is the target's own count: what its replicas say they were asked
// must equal what the status says was sent. The API of the cluster is the only
// way in; nothing here imports the operator's code but its API types and the
// measurement package, to read a histogram. What a target must have stored is the
// arithmetic of package audit.
//
// TestAbuse tries what a tenant could do to others. It is a table, abuseGroups: a row has
// the person's rights, what must refuse it and with which words.
//
// TestProtocols has faults hit runs over TLS and HTTP/2. The other tests speak HTTP/1.1
// without TLS.
//
// TestStop sets the switch of a namespace of its own. No test may set it for the whole
// cluster, where others run.
package e2e

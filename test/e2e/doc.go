// Package e2e is the tests in a real cluster: real nodes, real workers, real targets. `make e2e`
// brings the cluster up, loads the images, installs the operator once, by command operator, and
// runs the packages below one after another, of tag e2e:
//
//	runs       what one person does: run, stop, schedule, call, roll a target out
//	judgement  runs whose truth is known beforehand
//	faults     what disturbs the operator, the cluster or the whole machine; and the soak
//	abuse      what a tenant could do to others
//	targets    the presets of the chart of targets
//	why        what is said of a target at its limits, only if SUITE asks for it
//	ecosystem  programs of other projects, only if SUITE asks for it
//
// A suite is a test function, which SUITE=name selects in whichever package it is. Without FULL=1
// only that is run which no lower layer holds, and each fault once.
//
// The oracle is the target's own count: what its replicas say they were asked must equal what the
// status says was sent. The API of the cluster is the only way in; nothing here imports the
// operator's code but its API types and the measurement package, to read a histogram. What a
// target must have stored is the arithmetic of package audit, and what must become of a run
// after a fault that of package fault. Package cluster has what all suites share.
//
// Each test has namespaces of its own. Tests that change nothing outside their namespaces run in parallel.
// No test may stop runs of the whole cluster.
package e2e

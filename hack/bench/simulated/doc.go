// Package simulated simulates what surrounds an operator under load: finished LoadTests,
// LoadTests that run, and their workers, on a real API server and over real sessions.
//
//	Server   kube-apiserver and etcd, without a scheduler, a kubelet or controllers
//	Kubelet  does for Jobs what these would: pods, their tokens, one worker in each
//	worker   a session with the operator's coordinator, that measures nothing real
//	Waker    wakes the workers for their steps, in a process that has nothing else to do
//	Writes   what each change of a LoadTest, and its results, are in the store, in bytes
//
// The workers send no requests: what they report is made up, so that thousands of them
// fit one machine.
package simulated

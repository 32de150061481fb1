// Package incluster runs the same load by several tools within one cluster, each as its
// documentation says, with as many workers of the same limits: k6-operator, Locust's master and
// workers, and this operator.
//
//	load.go       the tests, and each tool's manifest of them
//	truth.go      the response times that a schedule has at a target of known truth
//	said.go       what the output of each tool says
//	tools.go      how each tool is installed, when it has ended, and where its output is
//	run.go        one test by one tool: apply, kill, wait, collect, delete
//	counts.go     what the targets counted
//	session.go    the whole: the targets, all tests by all tools, and removal
//	processor.go  processor time of pods, by their control groups on this host
//	proxy.go      reads from the API server, without a process for each
//
// Requests are counted by the target, never by a tool. Processor time can be read on the local
// cluster alone, whose nodes are on this host.
package incluster

// Package deploytest stands in for the programs that hack/deploy calls: it notes the
// calls, and answers them as a test says. Only tests import it, and it imports no other
// package of ours.
package deploytest

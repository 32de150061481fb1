// Package host is what the cluster needs of the machine and gives back to it:
// programs, control groups, mounts, kernel settings and folders.
//
// Each concern has a pure part, which parses and decides and is tested with
// texts, and a small part with effects. What the machine was like before is
// kept in a Snapshot; down restores exactly that.
//
// It is independent of Kubernetes and imports no other package of ours.
package host

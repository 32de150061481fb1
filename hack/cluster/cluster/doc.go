// Package cluster is what the commands do: it puts control plane and nodes
// together, in the right order, and takes them apart again.
//
//	Up    clean up what is left ─▶ network ─▶ { API server │ containerds }
//	      ─▶ kubelets, the rest of the control plane ─▶ all nodes Ready
//	Down  processes ─▶ pods, and with the last of them all mounts ─▶ network
//	      ─▶ control groups ─▶ kernel settings, folders
//
// Down does not depend on Up having been complete: it goes by what is there,
// so that it also cleans up after a crash.
package cluster

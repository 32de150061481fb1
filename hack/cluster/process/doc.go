// Package process starts the cluster's processes, finds them again and ends
// them.
//
//	Start ── fork, session of its own, log file, mark in its environment
//	List ─── /proc/*/environ with the mark ── also children that inherit it
//	Stop ─── SIGTERM, then SIGKILL, through a pidfd
//
// The record of a process is its own environment: it cannot be lost in a
// crash between fork and write, or be mistaken for a later process of the
// same number, as a file with a pid in it can.
//
// It is independent of Kubernetes and imports no other package of ours.
package process

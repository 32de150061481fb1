// Package certs makes and judges the certificate that the coordinator shows to
// workers.
//
// Workers dial an address that is not theirs to know (a Service, or the machine
// of someone who runs the operator outside the cluster), so the certificate is
// for one fixed name, ServerName, and workers verify that name whatever the
// address.
//
// It is pure: the clock is an argument, and it imports the standard library only.
package certs

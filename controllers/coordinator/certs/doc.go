// Package certs makes and judges the certificate that the coordinator shows to
// workers.
//
// Workers dial an address that is not known beforehand (a Service,
// or a machine outside the cluster), so the certificate is for one fixed name,
// workerv1.ServerName, and workers verify that name whatever the address.
//
// Two pairs are kept, the one that is served and the one that is served next, so that
// a renewal is no surprise to a worker that started before it.
//
// It is pure: the clock is an argument. It imports the session protocol, for the
// name, and the standard library.
package certs

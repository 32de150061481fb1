// Package address sorts IP addresses: those that no service of a cluster has, public ones,
// and private ones. A Policy of them says where a connection may go to.
//
// The operator decides by it when it accepts a run, and the worker on the very address
// that it connects to. It is a leaf: it may import the standard library only.
package address

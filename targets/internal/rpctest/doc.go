// Package rpctest connects a test to a gRPC server on this machine.
package rpctest

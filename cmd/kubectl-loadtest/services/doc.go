// Package services asks a server of gRPC which services it has, by its reflection.
//
//	address ──▶ Ask ─┬─ the names of all services
//	                 └─ the descriptors of those that are wanted ──▶ Found
//
// It connects and asks as a worker does before a run: what it accepts, a run accepts too, and
// the bounds of the worker's packages hold for what comes, which is input of the server.
//
// Of ours it imports address and text, and of the worker dial, message and reflection.
package services

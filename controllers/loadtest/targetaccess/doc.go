// Package targetaccess reads where the targets of a run lead to, and what the workers may
// connect to for them. Package policy judges it.
//
//	field of the spec ─▶ place ─▶ facts, read of the API server ─▶ judgement (policy)
//	                                                                │
//	status.internal.access, once, as a run begins ◀─────────────────┤
//	         what the workers are sent, as it is now ◀──────────────┘
//
//	checker.go              when it is read, and the reading
//	access.go               what a reading came to
//	destinations.go         what the workers are sent
//	place_facts.go          what a Service, its endpoints and its pods are
//	cluster_addresses.go    the addresses of API server, operator and nodes, which no host may lead to
//
// It is read again while a run goes on: what a name leads to may change after the run began.
package targetaccess

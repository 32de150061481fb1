// Package plan turns a LoadTest into what will run: its steps, how many workers
// share them, and each worker's share.
//
//	spec          ─ New ─────────▶ Plan           checked and expanded, once, into
//	                                              status.workers and status.steps
//	spec + status ─ Assignments ─▶ W x Assignment (shares: first=w, stride=W)
//	spec          ─ Files ───────▶ what the workers need of ConfigMaps and Secrets
//
// Everything that happens to a run after it was accepted follows from the plan in its
// status, never from a second expansion of the spec.
//
// It is pure: the same LoadTest gives the same plan, in any process, at any
// time. It may import the API and its metav1, the session protocol, the formats of access logs and the standard library;
// no client, clock, logger or source of randomness.
package plan

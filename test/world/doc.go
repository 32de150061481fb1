// Package model is a model checker for lifecycle.Decide: a simulated world in which a
// run is carried out while things fail. It has tests only.
//
//	      writes, watches              directives
//	API server ◀──────▶ operator ──────────────────▶ workers ──▶ target
//	LoadTest, Job, pods   cache, passes ◀──────────── what each holds
//	                      coordinator     sessions
//
// Each part is as small as it can be and still fail as the real one does: an operator
// has a cache that may be behind, a queue of passes, sessions, and nothing that
// survives it; a worker holds its results until they are acknowledged; the API server
// refuses a write of what is not the latest. Time jumps from one event to the next.
//
// Every story is told once without a fault, and then once for each fault at each of
// its events; random ones have several. After each write and at the end the world is
// held to the invariants of invariants_test.go. A violation is reported with all that
// happened until then.
package model

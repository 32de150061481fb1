// Package world simulates the cluster in which one run is carried out, and checks there what
// lifecycle.Decide decides.
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
// A world without faults (New, Run) tells the story of a run: its operator sees every change
// at once, so that nothing takes time but the run itself.
//
// In a world with faults, messages and watches take time, too. Every story of
// stories_test.go is told once without a fault, and then once for each fault at each of its
// events; random ones have several. After each write and at the end the world is held to the
// invariants of invariants.go. A violation is reported with all that happened until then.
package world

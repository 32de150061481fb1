// Package local runs a LoadTest on this machine, without a cluster. What decides,
// measures and judges is what does so in a cluster; this package is the rest: a status
// in memory in place of the API server, and processes in place of pods.
//
//	        lifecycle.Decide ◀── observe ── coordinator, processes
//	Run ──▶   │ apply ──▶ processes, coordinator ◀── sessions ──▶ Worker (same program)
//	          └ report ─▶ the LoadTest in memory, as JSON would bring it back
//
// Each worker is a process of its own, so that it has its own descriptors and
// processors, as a pod has. It ends when the one that started it does.
package local

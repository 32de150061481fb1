// Command loadworker sends a share of a load test's traffic and measures it. It
// knows nothing of Kubernetes: it is told by environment variables where the
// operator's coordinator is, and does what that says.
//
//	main ── session ─┬─ setup ──┬─ source ── transport ── (target)
//	           │     └─ attack ─┤
//	           │                ├─ pace
//	           │                └─ measure (beside this folder: the operator has it too)
//	           └─ measure/wire ── (coordinator)
//
// Nothing below this folder imports Kubernetes' packages, and only attack
// imports vegeta.
package main

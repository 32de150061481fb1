// Command loadworker sends a share of a load test's traffic and measures it. It
// depends on nothing of Kubernetes: environment variables name the operator's
// coordinator, and the worker carries out what that sends.
//
//	main ── session ─┬─ assemble ─┬─ setup ──┬─ source
//	                 │            │          └─ transport ── (target)
//	                 │            ├─ login ──── transport
//	                 │            ├─ replay ─── (accesslog, beside this folder)
//	                 │            └─ attack ─┬─ source, transport
//	                 │                       ├─ timer, health
//	                 │                       └─ measure (beside this folder: the operator has it too)
//	                 └─ measure/wire ── (coordinator)
//
// Nothing below this folder imports Kubernetes' packages, and only attack
// imports vegeta.
package main

// Package harness plans LoadTests for tests and benchmarks as the operator does, so
// that their workers get what a user's spec gives.
//
//	steps ─▶ LoadTest ─ controllers/loadtest/plan ─▶ assignments ─ loadworker/assemble ─▶ runners
//	                                        (loopback targets allowed)
package harness

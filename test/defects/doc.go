// Package defects has one test for each way in which published load tests were
// found to mislead. Each fails if the defect is put into our own pipeline:
//
//	LoadTest ─ plan ─▶ assignments ─ attack.Runner ─▶ measurements
//	                                      ▲                │ wire, merge
//	                               ground-truth server     ▼
//	                                      └─ judges ─ results, verdict
//
// What a test asserts is what the server knows to be true, or follows from the
// schedule by arithmetic. Bounds on times are one-sided: nothing can be answered
// before the server answered it, however slow the machine is.
//
// The package has no code of its own beside this comment.
package defects

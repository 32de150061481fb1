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
// Each of the defects that were found has its test. Which version or strategy of
// the target it is that was tested is verified where the spec asks for it, in a run
// by the real coordinator and workers, and else the report says that nobody asked.
// The figures of one run have no error bars still: the report says so, and
// repetitions give them. What the target stored is compared with what it
// acknowledged where it can be, in the cluster; here, what a limiter granted and
// denied.
//
// The package has no code of its own beside this comment.
package defects

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
// Of the defects that were found, two have no test, because nothing here answers
// them yet: that a run is not repeated, so that its figures have no error bars (a
// step says how many samples are behind them, and gives no quantile that too few
// are), and that nobody verifies which version or strategy of the target it is
// that was tested. What the target stored is compared with what it acknowledged
// where it can be, in the cluster; here, what a limiter granted and denied.
//
// The package has no code of its own beside this comment.
package defects

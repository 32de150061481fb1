// Package trend decides whether what is outstanding in a step, the requests that are due
// and not answered, grows: then the load is more than the target can take, however well
// the thresholds were kept in the time of the step.
//
// The window of a step is divided into 20 equal parts, and the first two, in which the
// queue of a target fills, are left out. Of the means of the others, x1 … x18, Mann and
// Kendall count
//
//	S = Σ sign(xj − xi) over all i < j,
//	V = (n(n−1)(2n+5) − Σ t(t−1)(2t+5)) / 18 over the groups of t equal means,
//	z = (S ∓ 1) / √V, the 1 towards 0.
//
// Without a trend, z is beyond 3 once in 700 times. The growth is the median of the slopes
// of all pairs (Theil and Sen), so that a pause of the target in one part does not matter.
// A regression with errors by Newey and West finds as much, and takes up to 17 % of sound
// steps for growing; goodput below what is due is not seen where queues are short, and is
// seen where there is no queue in short windows.
//
// Near the capacity of a target a queue comes and goes, for the longer the fewer requests
// the target takes in a second: of steps of 5 s at 0.9 times the capacity, 1 % are called
// growing if it takes 400 a second, and 5 to 13 % if one slot takes 50. In 20 s, 3 % are.
//
// The package is pure: it imports the standard library and what is measured, and knows no
// clock, no client and no status.
package trend

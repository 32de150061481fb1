// Package statistics says by what factor a figure changed from some repetitions of a
// measurement to others, and how certain that is.
//
//	before, after ─ Of, OfPairs ─▶ Change ─ AtMost, AtLeast ─▶ Yes, No or Unsure
//
// The model: the later figures are distributed as the earlier ones, times a factor.
// Every pair of a later and an earlier figure has a ratio. The estimate of the factor is
// the median of all ratios (Hodges and Lehmann, "Estimates of location based on rank
// tests", 1963). Its bounds are ratios, too: those beyond which the exact test of Mann
// and Whitney ("On a test of whether one of two random variables is stochastically
// larger than the other", 1947) rejects a factor at the level of 5 % on each side
// (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", section 4.3).
//
// Nothing is assumed of how the figures are distributed, which is not known of the 95th
// percentile of five runs. The price is small: where figures are normally distributed
// the test needs 5 % more of them than that of Student. Ties make it more careful, not
// less.
//
// What all repetitions of a side have in common, such as the node that they ran on, is
// in the factor; no repetition within one run can tell it from a change of the target.
//
// Figures that were measured in pairs are compared pair by pair (pairs.go): what the two of
// a pair have in common is not in the factor then.
//
// Chance and Holm (chance.go) say of many figures at once where a difference is one, and
// where it may be chance.
//
// It is pure, and independent of the API: it may import the standard library only.
package statistics

package statistics

import "testing"

// The greatest U that is significant at 5 % on one side, by published tables of Mann and
// Whitney's test; -1: none is.
func TestRanksArePublishedOnes(t *testing.T) {
	for _, tc := range []struct{ n, m, u int }{
		{1, 1, -1}, {1, 18, -1}, {1, 19, 0}, {2, 4, -1}, {2, 5, 0}, {3, 3, 0}, {3, 4, 0}, {3, 5, 1},
		{4, 4, 1}, {4, 5, 2}, {5, 5, 4}, {5, 6, 5}, {6, 6, 7}, {7, 7, 11}, {8, 8, 15}, {8, 10, 20},
		{10, 10, 27}, {12, 15, 55}, {20, 20, 138},
	} {
		if got := outside(tc.n, tc.m) - 1; got != tc.u {
			t.Errorf("%d against %d: U is %d, want %d", tc.n, tc.m, got, tc.u)
		}
		if a, b := outside(tc.n, tc.m), outside(tc.m, tc.n); a != b {
			t.Errorf("%d against %d has %d, the other way round %d", tc.n, tc.m, a, b)
		}
	}
}

// All orders are counted by brute force.
func TestOrdersAreCounted(t *testing.T) {
	for n := 1; n <= 6; n++ {
		for m := 1; m <= 6; m++ {
			want := make([]float64, n*m+1)
			for order := range 1 << (n + m) {
				first, u := 0, 0
				for bit := range n + m {
					if order>>bit&1 == 1 {
						first++
					} else {
						u += first
					}
				}
				if first == n {
					want[u]++
				}
			}
			got := ordersByU(n, m)
			for u := range want {
				if len(got) != len(want) || got[u] != want[u] {
					t.Fatalf("%d and %d: %v orders by U, want %v", n, m, got, want)
				}
			}
		}
	}
}

// 32 repetitions are the most that the API has.
func TestRankOfTheMostRepetitions(t *testing.T) {
	if got := outside(32, 32); got < 380 || got > 395 { // by the normal approximation, 389
		t.Errorf("rank %d, want about 389", got)
	}
}

// The greatest sum of ranks that is significant at 5 % on one side, by published tables of
// Wilcoxon's signed-rank test; -1: none is.
func TestRanksOfPairsArePublishedOnes(t *testing.T) {
	for _, tc := range []struct{ n, sum int }{
		{1, -1}, {4, -1}, {5, 0}, {6, 2}, {7, 3}, {8, 5}, {9, 8}, {10, 10}, {12, 17}, {15, 30}, {20, 60}, {25, 100}, {30, 151},
	} {
		if got := outsidePairs(tc.n) - 1; got != tc.sum {
			t.Errorf("%d pairs: the sum is %d, want %d", tc.n, got, tc.sum)
		}
	}
}

package statistics

// level is how often a bound may be wrong, as a divisor: one comparison in 20.
const level = 20

// outside is the rank of the bounds among the sorted ratios of n and m figures: the
// greatest k for which the k-th least ratio is above the true factor in at most one
// comparison in 20; 0 if the least is above it more often.
//
// With figures of both sides in one order, all C(n+m, n) orders of them are equally
// likely if only the factor, which is taken out, differs. U is how many of the n x m
// pairs have the later figure below the earlier, so that the k-th least ratio is above
// the factor if and only if U < k.
func outside(n, m int) int {
	orders := ordersByU(n, m)
	var all, below float64
	for _, count := range orders {
		all += count
	}
	for k, count := range orders {
		if below += count; below*level > all {
			return k
		}
	}
	return len(orders) // not reached: all of them are more than one in 20
}

// ordersByU is how many orders of n and m figures have each U, from 0 to n x m. Taking
// away the greatest figure leaves orders of n-1 and m, with its m pairs less, or of n
// and m-1:
//
//	f(n, m, u) = f(n-1, m, u-m) + f(n, m-1, u)
//
// (Mann and Whitney's recurrence). The counts of up to 32 repetitions are below 2^62;
// float64 rounds the largest by less than a part in 10^15.
func ordersByU(n, m int) []float64 {
	above := make([][]float64, m+1) // of one figure less on the first side
	for j := range above {
		above[j] = []float64{1}
	}
	for i := 1; i <= n; i++ {
		row := make([][]float64, m+1)
		row[0] = []float64{1}
		for j := 1; j <= m; j++ {
			row[j] = make([]float64, i*j+1)
			for u, count := range above[j] {
				row[j][u+j] += count
			}
			for u, count := range row[j-1] {
				row[j][u] += count
			}
		}
		above = row
	}
	return above[m]
}

package source

// cycle arranges the indexes of the weights so that each occurs as often as its
// weight, reduced by the greatest common divisor, and evenly spread.
//
// It is the smooth weighted round-robin of Nginx: each turn adds its weight to
// every entry, and takes the total from the largest, which has the turn.
func cycle(weights []int32) []int {
	divisor, total := int64(0), int64(0)
	for _, w := range weights {
		divisor = gcd(divisor, int64(w))
		total += int64(w)
	}
	turns := make([]int, 0, total/divisor)
	current := make([]int64, len(weights))
	for range total / divisor {
		best := 0
		for i, w := range weights {
			current[i] += int64(w)
			if current[i] > current[best] {
				best = i
			}
		}
		current[best] -= total
		turns = append(turns, best)
	}
	return turns
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

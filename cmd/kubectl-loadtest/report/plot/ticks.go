package plot

import "math"

// Bounds are round values around others, the ticks of the axis between them, and
// its scale: a logarithmic one where the greatest is many times the least.
func Bounds(values []float64) (Scale, []float64) {
	low, high := extremes(values)
	if high <= 0 {
		return Linear(0, 1), []float64{0, 1}
	}
	if low < high/8 {
		return logarithmic(low, high)
	}
	step := round(high / 4)
	top := step * math.Ceil(high/step-1e-9)
	var ticks []float64
	for i := 0; float64(i)*step <= top*(1+1e-9); i++ {
		ticks = append(ticks, float64(i)*step)
	}
	return Linear(0, top), ticks
}

// extremes are the least positive value and the greatest.
func extremes(values []float64) (low, high float64) {
	low = math.Inf(1)
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 1) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// round is the next of 1, 2, 2.5 and 5 times a power of ten.
func round(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logarithmic goes from a 1, 2 or 5 at or below to one at or above. Over more than
// two decades the ticks are powers of ten.
func logarithmic(low, high float64) (Scale, []float64) {
	var all []float64
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, m := range []float64{1, 2, 5} {
			all = append(all, m*math.Pow(10, e))
		}
	}
	from, to := 0, len(all)-1
	for from+1 < len(all) && all[from+1] <= low*(1+1e-9) {
		from++
	}
	for to > 0 && all[to-1] >= high*(1-1e-9) {
		to--
	}
	ends := all[from : to+1]
	scale := Log(ends[0], ends[len(ends)-1])
	if math.Log10(ends[len(ends)-1]/ends[0]) <= 2 {
		return scale, ends
	}
	var powers []float64
	for _, v := range ends {
		if exponent := math.Log10(v); math.Abs(exponent-math.Round(exponent)) < 1e-9 {
			powers = append(powers, v)
		}
	}
	return scale, powers
}

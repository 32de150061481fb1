package source

import (
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"
)

func TestCycle(t *testing.T) {
	tests := map[string]struct {
		weights []int32
		want    []int
	}{
		"one":                           {[]int32{7}, []int{0}},
		"equal weights take turns":      {[]int32{3, 3, 3}, []int{0, 1, 2}},
		"a common divisor is taken out": {[]int32{80, 20}, []int{0, 0, 1, 0, 0}},
		"spread, not in a row":          {[]int32{5, 1, 1}, []int{0, 0, 1, 0, 2, 0, 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, cycle(tt.weights)); diff != "" {
				t.Errorf("cycle(%v) (-want +got):\n%s", tt.weights, diff)
			}
		})
	}
}

func TestCycleHoldsEachAsOftenAsItsWeight(t *testing.T) {
	property := func(raw []uint8) bool {
		if len(raw) == 0 || len(raw) > 32 {
			return true
		}
		weights := make([]int32, len(raw))
		total := 0
		for i, w := range raw {
			weights[i] = int32(w) + 1
			total += int(w) + 1
		}
		counts := make([]int, len(raw))
		turns := cycle(weights)
		for _, i := range turns {
			counts[i]++
		}
		for i, n := range counts {
			if n*total != int(weights[i])*len(turns) {
				return false
			}
		}
		return true
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

// Over any stretch the smooth order keeps close to the weights: a request is
// never more than one turn ahead of its share.
func TestCycleIsEven(t *testing.T) {
	weights := []int32{10, 5, 1}
	turns := cycle(weights)
	counts := make([]float64, len(weights))
	for n, i := range turns {
		counts[i]++
		if share := float64(n+1) * float64(weights[i]) / 16; counts[i] > share+1 {
			t.Errorf("after %d turns request %d had %v, its share is %.2f", n+1, i, counts[i], share)
		}
	}
}

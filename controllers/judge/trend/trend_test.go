package trend_test

import (
	"math"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/trend"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// The statistics are those of the books, ties included.
func TestStatisticsOfKnownSeries(t *testing.T) {
	for name, tt := range map[string]struct {
		values   []float64
		z, slope float64
	}{
		"nothing":           {nil, 0, 0},
		"one value":         {[]float64{3}, 0, 0},
		"all the same":      {[]float64{2, 2, 2, 2, 2}, 0, 0},
		"rising":            {[]float64{1, 2, 3, 4}, 5 / math.Sqrt(26./3), 1},         // S = 6, V = 4*3*13/18
		"falling":           {[]float64{8, 6, 4, 2}, -5 / math.Sqrt(26./3), -2},       // S = -6
		"up and down":       {[]float64{1, 3, 2, 4, 3}, 4 / math.Sqrt(282./18), 0.5},  // S = 5, one pair of ties: 300-18
		"two groups of 3":   {[]float64{1, 1, 1, 5, 5, 5}, 8 / math.Sqrt(378./18), 1}, // S = 9, V = (510-2*66)/18
		"one value is wild": {[]float64{1, 2, 900, 4, 5}, 5 / math.Sqrt(50./3), 1.},   // S = 6, V = 5*4*15/18
		"no trend, S is 0":  {[]float64{1, 2, 2, 1}, 0, 0},
		"S is 1":            {[]float64{1, 3, 2}, 0, 0.5},
		"an even number":    {[]float64{0, 1, 1, 5}, 4 / math.Sqrt(138./18), 4. / 3}, // S = 5, V = (156-18)/18; the slopes in the middle are 1 and 5/3
	} {
		t.Run(name, func(t *testing.T) {
			if z := trend.Z(tt.values); !near(z, tt.z) {
				t.Errorf("z is %v, want %v", z, tt.z)
			}
			if slope := trend.Slope(tt.values); !near(slope, tt.slope) {
				t.Errorf("slope is %v, want %v", slope, tt.slope)
			}
		})
	}
}

// timeline has what a function says outstanding at the end of each slot.
func timeline(outstanding func(slot int) int64) *measure.Timeline {
	t := &measure.Timeline{}
	for i := range t.Outstanding {
		t.Outstanding[i] = outstanding(i)
	}
	return t
}

func TestTrends(t *testing.T) {
	const window = 20 * time.Second // slots of 100 ms, parts of 1 s
	each := func(i int) int64 { return int64(i) }
	tenths := []int64{0, 0, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 15, 15, 17, 17, 19}
	for name, tt := range map[string]struct {
		outstanding  func(slot int) int64
		due          int64
		trend        trend.Trend
		mean, growth float64
	}{
		"no timeline":                                    {nil, 1000, trend.Unknown, 0, 0},
		"the same all the time":                          {func(int) int64 { return 7 }, 1000, trend.Steady, 7, 0},
		"one more in each slot":                          {each, 1000, trend.Growing, 109.5, 10},
		"one more in each part":                          {func(i int) int64 { return int64(i / 10) }, 1000, trend.Growing, 10.5, 1},
		"one more in each slot, of just enough requests": {each, 20, trend.Growing, 109.5, 10},
		"one more in each slot, of too few requests":     {each, 19, trend.Unknown, 109.5, 10},
		"two more in the time that counts": {func(i int) int64 {
			if i%10 > 0 {
				return 0
			}
			return tenths[i/10]
		}, 1000, trend.Growing, 167. / 180, 1. / 9},
		"one less in each slot":                     {func(i int) int64 { return int64(200 - i) }, 1000, trend.Steady, 90.5, -10},
		"a queue that fills in the first two parts": {func(i int) int64 { return int64(min(i, 20)) }, 1000, trend.Steady, 20, 0},
		"a pause of the target": {func(i int) int64 {
			if i >= 100 && i < 130 {
				return int64(10 * (i - 100))
			}
			return 3
		}, 1000, trend.Steady, 3 + (45*10-30+1450-30+2450-30)/180., 0},
		"one more from the middle on, by when it is counted": {func(i int) int64 { return int64(i / 110) }, 1000, trend.Steady, 0.5, 1. / 15},
	} {
		t.Run(name, func(t *testing.T) {
			var line *measure.Timeline
			if tt.outstanding != nil {
				line = timeline(tt.outstanding)
			}
			got := trend.Of(line, window, 0, tt.due)
			if got.Trend != tt.trend || !near(got.Mean, tt.mean) || !near(got.Growth, tt.growth) {
				t.Errorf("%+v, want %v, %v and %v", got, tt.trend, tt.mean, tt.growth)
			}
		})
	}
	rising := timeline(each)
	if got := trend.Of(rising, 0, 0, 1000); got != (trend.Outstanding{}) {
		t.Errorf("without a window: %+v", got)
	}
	if got := trend.Of(rising, 1, 0, 1000); got.Trend != trend.Growing {
		t.Errorf("in the shortest window: %+v", got)
	}
	slowly := timeline(func(i int) int64 { return int64(i / 10) })
	if got := trend.Of(slowly, 200*time.Second, 0, 1000); got.Trend != trend.Growing || !near(got.Growth, 0.1) {
		t.Errorf("one more in each 10 s: %+v", got)
	}
}

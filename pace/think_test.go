package pace

import (
	"math"
	"testing"
	"time"
)

func TestThinkTimesAreUniform(t *testing.T) {
	const users, each, classes = 500, 200, 20
	think := Think{Shortest: time.Second, Longest: 3 * time.Second}
	draws := NewDraws(42, 3)
	var counts [classes]float64
	sum := 0.0
	for user := range int64(users) {
		for n := range int64(each) {
			d := think.Draw(draws, user, n)
			if d < think.Shortest || d > think.Longest {
				t.Fatalf("think time %v is outside of %+v", d, think)
			}
			counts[min(classes-1, int(classes*(d-think.Shortest)/(think.Longest-think.Shortest)))]++
			sum += d.Seconds()
		}
	}
	// Chi-squared with 19 degrees of freedom is above 43.8 in one of 1,000 samples.
	chi, want := 0.0, float64(users*each)/classes
	for _, n := range counts {
		chi += (n - want) * (n - want) / want
	}
	if chi > 43.8 {
		t.Errorf("chi-squared of %d classes is %.1f: %v", classes, chi, counts)
	}
	// The mean of 100,000 draws has a standard deviation of 2/sqrt(12*100000) s.
	if mean := sum / (users * each); math.Abs(mean-2) > 4*2/math.Sqrt(12*users*each) || think.Mean() != 2*time.Second {
		t.Errorf("mean %.4f s, Mean %v, want 2 s", mean, think.Mean())
	}
}

// Neither two users nor two think times of one user go together.
func TestThinkTimesAreIndependent(t *testing.T) {
	const n = 20000
	think := Think{Longest: time.Second}
	draws := NewDraws(1, 0)
	pairs := map[string]func(i int64) (a, b time.Duration){
		"of one user": func(i int64) (time.Duration, time.Duration) {
			return think.Draw(draws, 7, i), think.Draw(draws, 7, i+1)
		},
		"of neighbours": func(i int64) (time.Duration, time.Duration) {
			return think.Draw(draws, i, 0), think.Draw(draws, i+1, 0)
		},
		"of neighbours, one later": func(i int64) (time.Duration, time.Duration) {
			return think.Draw(draws, i, 1), think.Draw(draws, i+1, 0)
		},
		"of two steps": func(i int64) (time.Duration, time.Duration) {
			return think.Draw(draws, i, 0), think.Draw(NewDraws(1, 1), i, 0)
		},
	}
	for name, pair := range pairs {
		sum := 0.0
		for i := range int64(n) {
			a, b := pair(i)
			sum += (a.Seconds() - 0.5) * (b.Seconds() - 0.5) * 12
		}
		// The correlation of independent draws has a standard deviation of 1/sqrt(n).
		if r := sum / n; math.Abs(r) > 4/math.Sqrt(n) {
			t.Errorf("%s: correlation %.4f, want none", name, r)
		}
	}
}

func TestThinkTimesFollowTheSeed(t *testing.T) {
	think := Think{Longest: time.Hour}
	a, again, other := NewDraws(5, 1), NewDraws(5, 1), NewDraws(6, 1)
	same := 0
	for n := range int64(1000) {
		if think.Draw(a, 3, n) != think.Draw(again, 3, n) {
			t.Fatalf("think time %d differs with the same seed", n)
		}
		if think.Draw(a, 3, n) == think.Draw(other, 3, n) {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d of 1000 think times are the same with another seed", same)
	}
}

func TestFixedThinkTime(t *testing.T) {
	think := Think{Shortest: 2 * time.Second, Longest: 2 * time.Second}
	for n := range int64(100) {
		if d := think.Draw(NewDraws(n, 0), n, n); d != 2*time.Second {
			t.Fatalf("think time %v, want 2s", d)
		}
	}
}

func TestDrawsAllocateNothing(t *testing.T) {
	think, draws, n, sum := Think{Longest: time.Second}, NewDraws(1, 1), int64(0), time.Duration(0)
	if allocs := testing.AllocsPerRun(100, func() { n++; sum += think.Draw(draws, n, n) }); allocs != 0 || sum == 0 {
		t.Errorf("a draw allocates %v times, the sum is %v", allocs, sum)
	}
}

func BenchmarkThinkDraw(b *testing.B) {
	think, draws, n := Think{Longest: time.Second}, NewDraws(1, 1), int64(0)
	for b.Loop() {
		n++
		think.Draw(draws, n, n)
	}
}

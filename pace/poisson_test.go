package pace

import (
	"math"
	"slices"
	"sync"
	"testing"
	"testing/quick"
	"time"
)

// drawn returns all due times of a process.
func drawn(p *Poisson) []time.Duration {
	var due []time.Duration
	for j := int64(0); p.Due(j) < p.ramp.Length; j++ {
		due = append(due, p.Due(j))
	}
	return due
}

func level(perSecond float64, length time.Duration) Ramp {
	return Ramp{From: Rate(perSecond * 1e6), To: Rate(perSecond * 1e6), Length: length}
}

func TestPoissonOfTheSameSeedIsTheSame(t *testing.T) {
	r := level(100, 20*time.Second)
	want := drawn(NewPoisson(r, 2, 7, 3, 1))
	if got := drawn(NewPoisson(r, 2, 7, 3, 1)); !slices.Equal(got, want) {
		t.Error("drawn twice, it is another process")
	}
	// In any order of the calls.
	p := NewPoisson(r, 2, 7, 3, 1)
	for j := range slices.Backward(want) {
		if got := p.Due(int64(j)); got != want[j] {
			t.Fatalf("hit %d is due at %v, asked for from behind at %v", j, want[j], got)
		}
	}
	others := map[string]*Poisson{
		"seed": NewPoisson(r, 2, 8, 3, 1), "step": NewPoisson(r, 2, 7, 4, 1), "worker": NewPoisson(r, 2, 7, 3, 0),
	}
	for name, other := range others {
		if slices.Equal(drawn(other), want) {
			t.Errorf("another %s draws the same process", name)
		}
	}
}

// Loops call Due while a snapshot calls Before.
func TestPoissonIsSafeForConcurrentUse(t *testing.T) {
	r := level(2000, 10*time.Second)
	alone, p := NewPoisson(r, 1, 7, 3, 0), NewPoisson(r, 1, 7, 3, 0)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for j := int64(0); p.Due(j) < r.Length; j += 50 {
			}
		})
	}
	for at := time.Duration(0); at < r.Length; at += 50 * time.Millisecond {
		if got, want := p.Before(at), alone.Before(at); got != want {
			t.Errorf("%d are due before %v, want %d", got, at, want)
		}
	}
	group.Wait()
}

func TestPoissonBeforeCountsExactlyWhatIsDue(t *testing.T) {
	property := func(seed int64, from, to uint8, at uint32) bool {
		p := NewPoisson(Ramp{From: Rate(from)*1e6 + 1, To: Rate(to)*1e6 + 1, Length: 5 * time.Second}, 2, seed, 0, 0)
		limit := time.Duration(at)%p.ramp.Length + 1
		n := p.Before(limit) // first, so that it draws what it needs itself
		if n > 0 && p.Due(n-1) >= limit || p.Due(n) < limit {
			return false
		}
		last := time.Duration(0)
		for _, due := range drawn(p) {
			if due < last {
				return false
			}
			last = due
		}
		return p.Before(0) == 0 && p.Before(p.ramp.Length+time.Hour) == int64(len(drawn(p)))
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

// At 5^15 millionths of a hit per second, of two workers, a part of a hit takes a
// nanosecond: due times are exact, and what is due at an instant is not due before it.
func TestPoissonHitIsNotDueBeforeItsInstant(t *testing.T) {
	p := NewPoisson(Ramp{From: 30_517_578_125, To: 30_517_578_125, Length: time.Hour}, 2, 1, 0, 0)
	for j := range int64(100) {
		if got := p.Before(p.Due(j)); got != j {
			t.Errorf("%d hits are due before hit %d is", got, j)
		}
	}
}

// The counts of a Poisson process have a variance that is equal to their mean,
// and its gaps a standard deviation equal to theirs. The seeds are fixed, so that
// the sums are always the same; the bounds are six standard errors.
func TestPoissonHasTheMeanAndVariance(t *testing.T) {
	const processes, workers, mean = 400, 4, 250.0 // hits of each worker
	r := level(100, 10*time.Second)
	var counts, gaps []float64
	for seed := range int64(processes) {
		due := drawn(NewPoisson(r, workers, seed, 0, 2))
		counts = append(counts, float64(len(due)))
		for i := 1; i < len(due); i++ {
			gaps = append(gaps, (due[i] - due[i-1]).Seconds())
		}
	}
	m, v := moments(counts)
	if bound := 6 * math.Sqrt(mean/processes); math.Abs(m-mean) > bound {
		t.Errorf("a mean of %.1f hits, want %v within %.1f", m, mean, bound)
	}
	if bound := 6 * mean * math.Sqrt(2.0/processes); math.Abs(v-mean) > bound {
		t.Errorf("a variance of %.1f, want %v within %.1f", v, mean, bound)
	}
	m, v = moments(gaps)
	if math.Abs(m-0.04) > 0.001 || math.Abs(math.Sqrt(v)-0.04) > 0.001 {
		t.Errorf("gaps of %.4f s with a deviation of %.4f s, want both 0.04 s", m, math.Sqrt(v))
	}
}

func moments(list []float64) (mean, variance float64) {
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		variance += (x - mean) * (x - mean) / float64(len(list)-1)
	}
	return mean, variance
}

// On a ramp from 0 to 200/s, a quarter of the hits come in the first half.
func TestPoissonFollowsTheRamp(t *testing.T) {
	r := Ramp{From: 1, To: 200e6, Length: 10 * time.Second}
	first, all := 0.0, 0.0
	for seed := range int64(100) {
		p := NewPoisson(r, 1, seed, 0, 0)
		first += float64(p.Before(r.Length / 2))
		all += float64(p.Before(r.Length))
	}
	if math.Abs(all-100_000) > 6*math.Sqrt(100_000) || math.Abs(first-25_000) > 6*math.Sqrt(25_000) {
		t.Errorf("%v hits, %v in the first half; want some 100,000 and 25,000", all, first)
	}
}

// The count of many hits is within six standard deviations of its mean.
func TestPoissonOfAMillionHitsHasThemAll(t *testing.T) {
	p := NewPoisson(level(1e5, 10*time.Second), 1, 3, 0, 0)
	if got := p.Before(p.ramp.Length); math.Abs(float64(got)-1e6) > 6e3 || p.Due(got-1) >= p.ramp.Length || p.Due(got) != math.MaxInt64 {
		t.Errorf("%d hits, the last at %v and %v; want a million", got, p.Due(got-1), p.Due(got))
	}
}

// A process ends at the largest position; it does not wrap around.
func TestPoissonEnds(t *testing.T) {
	p := NewPoisson(level(1, time.Hour), 1<<40, 1, 0, 0)
	if got := p.Due(1 << 20); got != math.MaxInt64 {
		t.Errorf("due at %v, want never", got)
	}
	if got := p.Before(time.Hour); got != 0 {
		t.Errorf("%d hits of a millionth of a millionth of a hit a second", got)
	}
}

// With so many workers, each has a hit or two of the largest ramp, and the positions
// after them would wrap around to its beginning.
func TestPoissonDoesNotWrapAround(t *testing.T) {
	for seed := range int64(50) {
		p := NewPoisson(level(1e9, time.Hour), 1<<41, seed, 0, 0)
		last, hits := time.Duration(0), int64(0)
		for j := range int64(1000) {
			due := p.Due(j)
			if due < last {
				t.Fatalf("seed %d: hit %d is due at %v, the one before it at %v", seed, j, due, last)
			}
			if last = due; due < p.ramp.Length {
				hits++
			}
		}
		if last != math.MaxInt64 || p.Due(1<<50) != math.MaxInt64 {
			t.Errorf("seed %d: hit 999 is due at %v, want never", seed, last)
		}
		if got := p.Before(time.Hour); got != hits {
			t.Errorf("seed %d: %d hits are before the end, %d are due", seed, got, hits)
		}
	}
}

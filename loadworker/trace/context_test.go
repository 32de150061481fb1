package trace

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The share that is sampled is that which was asked for, up to chance: the numbers are
// always the same.
func TestTheShareIsSampled(t *testing.T) {
	const n = 200_000
	r := rand.New(rand.NewPCG(1, 2))
	for _, share := range []int64{1, 1000, Whole / 1000, Whole / 100, Whole / 3, Whole - 1, Whole} {
		s, err := NewSampler(share)
		must.Succeed(t, err)
		sampled := 0
		for range n {
			if c := s.context(r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()); c.Sampled {
				sampled++
			}
		}
		p := float64(share) / Whole
		want, sigma := n*p, math.Sqrt(n*p*(1-p))
		if math.Abs(float64(sampled)-want) > 5*sigma+1 || share == Whole && sampled != n {
			t.Errorf("%d of %d are sampled, want %.0f +- %.0f", sampled, n, want, 5*sigma)
		}
	}
}

func TestNewSamplerRefuses(t *testing.T) {
	for _, share := range []int64{-1, 0, Whole + 1} {
		if _, err := NewSampler(share); err == nil || !strings.Contains(err.Error(), "from 1 to 100000000 millionths") {
			t.Errorf("a share of %d: error %v", share, err)
		}
	}
}

// An id of zeros makes a header invalid, and a tracer of 64 bits takes the end of the id.
func TestNoIDIsZeros(t *testing.T) {
	all, err := NewSampler(Whole)
	must.Succeed(t, err)
	none := &Sampler{}
	for s, want := range map[*Sampler]string{
		all:  "00-00000000000000000000000000000001-0000000000000001-01",
		none: "00-00000000000000000000000000000001-0000000000000001-00",
	} {
		c := s.context(0, 0, 0, 0)
		if got := string(c.Append(nil)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	largest := all.context(math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64)
	if got, want := string(largest.Append([]byte("a"))), "a00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-01"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestContextsDiffer(t *testing.T) {
	s, err := NewSampler(Whole / 2)
	must.Succeed(t, err)
	syntax := regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]$`)
	seen := map[string]bool{}
	for range 10_000 {
		c := s.Draw()
		parts := syntax.FindStringSubmatch(string(c.Append(nil)))
		if parts == nil || seen[parts[1]] || seen[parts[2]] {
			t.Fatalf("%s: ids that were there", c.Append(nil))
		}
		seen[parts[1]], seen[parts[2]] = true, true
	}
}

func BenchmarkContext(b *testing.B) {
	s, err := NewSampler(Whole / 100)
	must.Succeed(b, err)
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		c := s.Draw()
		out = c.Append(out[:0])
	}
}

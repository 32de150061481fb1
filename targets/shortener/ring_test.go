package shortener_test

import (
	"crypto/md5"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The owners that the original's ring gives.
func TestOwnerMatchesReferenceImplementation(t *testing.T) {
	ring := shortener.NewRing("shard0", "shard1", "shard2")
	want := map[string]int{"abc123": 2, "000000": 2, "zzzzzz": 1, "AbCdEf": 1, "hello1": 1}
	got := map[string]int{}
	for code := range want {
		got[code] = ring.Owner(code)
	}
	same.As(t, "owners", want, got)
}

// Over random codes the shares are the original's, 31.1, 33.2 and 35.7 %: each
// within 0.3 points, which is 3.5 standard deviations of 300,000 draws.
func TestDistribution(t *testing.T) {
	const codes = 300_000
	const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	ring := shortener.NewRing("shard0", "shard1", "shard2")
	random := rand.New(rand.NewPCG(1, 2))
	var owned [3]int
	code := make([]byte, 6)
	for range codes {
		for i := range code {
			code[i] = base62[random.IntN(len(base62))]
		}
		owned[ring.Owner(string(code))]++
	}
	for node, want := range []float64{31.1, 33.2, 35.7} {
		if got := 100 * float64(owned[node]) / codes; math.Abs(got-want) > 0.3 {
			t.Errorf("shard%d owns %.2f %%, want %.1f", node, got, want)
		}
	}
}

// A node that comes takes keys from the others, and moves none between them.
func TestNewNodeTakesOnlyItsKeys(t *testing.T) {
	before := shortener.NewRing("shard0", "shard1")
	after := shortener.NewRing("shard0", "shard1", "shard2")
	moved := 0
	for i := range 10_000 {
		key := fmt.Sprint(i)
		was, is := before.Owner(key), after.Owner(key)
		if was == is {
			continue
		}
		moved++
		if is != 2 {
			t.Fatalf("key %s moved from shard%d to shard%d", key, was, is)
		}
	}
	if moved == 0 {
		t.Error("the new node owns nothing")
	}
}

func TestOneNodeOwnsEverything(t *testing.T) {
	ring := shortener.NewRing("shard0")
	for i := range 1000 {
		if got := ring.Owner(fmt.Sprint(i)); got != 0 {
			t.Fatalf("Owner(%d) = %d, want 0", i, got)
		}
	}
}

func TestNodeOrderIsIrrelevant(t *testing.T) {
	names := []string{"shard0", "shard1", "shard2"}
	ring, turned := shortener.NewRing(names...), shortener.NewRing(names[2], names[0], names[1])
	for i := range 1000 {
		key := fmt.Sprint(i)
		if a, b := ring.Owner(key), (turned.Owner(key)+2)%3; a != b {
			t.Fatalf("owner of %s = %s, turned: %s", key, names[a], names[b])
		}
	}
}

// A key whose hash is that of a point belongs to the point after it, as by the
// original's bisect_right; behind the last point the ring begins again.
func TestOwnerOfAPoint(t *testing.T) {
	names := []string{"shard0", "shard1", "shard2"}
	ring, owners := shortener.NewRing(names...), map[string]int{}
	for node, name := range names {
		for i := range 160 {
			sum := md5.Sum(fmt.Appendf(nil, "%s-%d", name, i))
			owners[string(sum[:])] = node
		}
	}
	points := slices.Sorted(maps.Keys(owners))
	for _, name := range names {
		for i := range 160 {
			key := fmt.Sprintf("%s-%d", name, i)
			sum := md5.Sum([]byte(key))
			at := slices.Index(points, string(sum[:]))
			if got, want := ring.Owner(key), owners[points[(at+1)%len(points)]]; got != want {
				t.Errorf("owner of %s = %d, want %d", key, got, want)
			}
		}
	}
}

package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func histogramOf(times ...time.Duration) *Histogram {
	h := NewHistogram()
	for _, d := range times {
		h.Record(d)
	}
	return h
}

func TestRecord(t *testing.T) {
	tests := map[string]struct {
		in      time.Duration
		want    time.Duration
		clamped int64
	}{
		"zero":                   {0, 0, 0},
		"rounded down":           {1499 * time.Nanosecond, time.Microsecond, 0},
		"rounded up":             {1500 * time.Nanosecond, 2 * time.Microsecond, 0},
		"exact below 2 ms":       {1999 * time.Microsecond, 1999 * time.Microsecond, 0},
		"the longest":            {time.Hour, time.Hour, 0},
		"longer":                 {time.Hour + 1, time.Hour, 1},
		"the longest of all":     {math.MaxInt64, time.Hour, 1},
		"the most below zero":    {math.MinInt64, 0, 0},
		"half a unit below zero": {-600 * time.Nanosecond, 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := histogramOf(tt.in)
			if h.Count() != 1 || h.Max() != tt.want || h.Clamped() != tt.clamped {
				t.Errorf("count %d, max %v, clamped %d; want 1, %v, %d", h.Count(), h.Max(), h.Clamped(), tt.want, tt.clamped)
			}
		})
	}
}

// recorded are the same times as the library counts them.
func recorded(t *testing.T, times []time.Duration) *hdrhistogram.Histogram {
	t.Helper()
	hdr := hdrhistogram.New(1, int64(Highest/Lowest), SignificantDigits)
	for _, d := range times {
		must.Succeed(t, hdr.RecordValue(int64(d.Round(Lowest)/Lowest)))
	}
	return hdr
}

// What is stored must be readable by the tools that people have: its encoding is the library's.
func TestFiguresAreThoseOfTheLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	tests := map[string][]time.Duration{
		"none":         nil,
		"zero":         {0, 0},
		"the longest":  {Highest},
		"response":     samplesOf(r, 5000),
		"of all sizes": nil,
	}
	for range 5000 {
		tests["of all sizes"] = append(tests["of all sizes"], min(Highest, time.Duration(math.Exp(r.Float64()*math.Log(float64(Highest))))))
	}
	for name, times := range tests {
		t.Run(name, func(t *testing.T) {
			h, hdr := histogramOf(times...), recorded(t, times)
			us := func(v int64) time.Duration { return min(time.Duration(v)*Lowest, Highest) }
			same.As(t, "count, shortest and longest", []time.Duration{time.Duration(hdr.TotalCount()), us(hdr.Min()), us(hdr.Max())}, []time.Duration{time.Duration(h.Count()), h.Min(), h.Max()})
			same.As(t, "mean", time.Duration(hdr.Mean()*float64(Lowest)), h.Mean())
			for q := 0.01; q < 1; q += 0.01 {
				if got, ok := h.Quantile(q); ok {
					want := hdr.ValueAtQuantile(100 * math.Ceil(q*float64(len(times))*(1-1e-12)) / float64(len(times)))
					same.As(t, fmt.Sprint("quantile ", q), us(want), got)
				}
			}
			limit, n, sum := time.Second, int64(0), time.Duration(0)
			for _, bar := range hdr.Distribution() {
				if us(bar.To) > limit {
					n, sum = n+bar.Count, sum+time.Duration(bar.Count)*us(bar.To)
				}
			}
			gotN, gotSum := h.LongerThan(limit)
			same.As(t, "longer than a second", []int64{n, int64(sum)}, []int64{gotN, int64(gotSum)})
			text, err := hdr.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
			must.Succeed(t, err)
			same.As(t, "encoding", string(text), encoded(t, h))
		})
	}
}

func TestCountsWithoutRoomAreNotRecorded(t *testing.T) {
	h := histogramOf(time.Second)
	h.RecordN(2*Highest, math.MaxInt64)
	h.RecordN(2*Highest, -1)
	h.RecordN(2*Highest, 0)
	same.As(t, "count, clamped and slots", []int64{1, 0, 11264}, []int64{h.Count(), h.Clamped(), int64(len(h.counts))})
	h.RecordN(time.Second, math.MaxInt64-1)
	same.As(t, "count", int64(math.MaxInt64), h.Count())
	before := NewHistogram()
	must.Succeed(t, before.Merge(h))
	if err := h.Merge(histogramOf(time.Minute, 2*Highest)); err == nil || !h.Equal(before) {
		t.Errorf("Merge = %v; want an error, and nothing added", err)
	}
}

func TestHistogramsWithTheSameCountsAreEqual(t *testing.T) {
	short, long := histogramOf(time.Microsecond), HistogramOf(make([]int64, Slots), 0)
	long.Record(Highest)
	long.Reset()
	long.Record(time.Microsecond)
	grown := HistogramOf(histogramOf(time.Microsecond).Counts(), 0)
	grown.grow(int(Slots))
	for name, tc := range map[string]struct {
		a, b *Histogram
		want bool
	}{
		"emptied":           {short, long, true},
		"grown":             {short, grown, true},
		"in another order":  {histogramOf(time.Second, time.Minute), histogramOf(time.Minute, time.Second), true},
		"none":              {nil, nil, true},
		"empty and none":    {NewHistogram(), nil, true},
		"another time":      {short, histogramOf(2 * time.Microsecond), false},
		"more":              {short, histogramOf(time.Microsecond, time.Microsecond), false},
		"a longer one":      {short, histogramOf(time.Second), false},
		"clamped":           {short, HistogramOf(short.Counts(), 1), false},
		"one that is above": {histogramOf(2 * Highest), histogramOf(Highest), false},
		"one and nothing":   {short, NewHistogram(), false},
		"one and none":      {short, nil, false},
	} {
		if tc.a.Equal(tc.b) != tc.want || tc.b.Equal(tc.a) != tc.want {
			t.Errorf("%s: equal %t, want %t", name, !tc.want, tc.want)
		}
	}
}

// What was counted before must not come back as the histogram grows again.
func TestAnEmptiedHistogramCountsFromZero(t *testing.T) {
	h := histogramOf(time.Microsecond, time.Second, Highest)
	h.Reset()
	h.Record(Highest)
	if !h.Equal(histogramOf(Highest)) {
		t.Errorf("it counts %d, from %v", h.Count(), h.Min())
	}
	if n := testing.AllocsPerRun(10, func() { h.Reset(); h.Record(Highest) }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}

// The memory of most times is a small part of that for an hour.
func TestAHistogramKeepsTheCountsUpToTheLongestTime(t *testing.T) {
	for longest, want := range map[time.Duration]int{
		0: 1024, 1023 * time.Microsecond: 1024, 1024 * time.Microsecond: 2048, 2047 * time.Microsecond: 2048,
		2048 * time.Microsecond: 3072, time.Second: 11264, Highest: int(Slots),
	} {
		h := histogramOf(longest)
		merged := NewHistogram()
		must.Succeed(t, merged.Merge(h))
		same.As(t, fmt.Sprint("slots up to ", longest), []int{want, want, want, want}, []int{len(h.counts), len(merged.counts), len(HistogramOf(h.Counts(), 0).counts), len(h.Clone().counts)})
	}
	same.As(t, "slots of none", []int{0, 0}, []int{len(NewHistogram().counts), len(HistogramOf(make([]int64, Slots), 0).counts)})
}

func TestQuantileNeedsEnoughSamples(t *testing.T) {
	tests := []struct {
		q      float64
		enough int
	}{{0.5, 2}, {0.75, 4}, {0.9, 10}, {0.95, 20}, {0.99, 100}, {0.999, 1000}, {0.9999, 10000}}
	for _, tt := range tests {
		h := NewHistogram()
		for i := 1; i <= tt.enough; i++ {
			if _, ok := h.Quantile(tt.q); ok {
				t.Errorf("quantile %v with %d samples, want none below %d", tt.q, i-1, tt.enough)
			}
			h.Record(time.Millisecond)
		}
		if d, ok := h.Quantile(tt.q); !ok || d != time.Millisecond {
			t.Errorf("quantile %v with %d samples = %v, %v", tt.q, tt.enough, d, ok)
		}
	}
}

// nearestRank is the definition: the smallest sample with at least a share of q
// at or below it.
func rankedTime(sorted []time.Duration, q float64) time.Duration {
	n := 0
	for float64(n) < q*float64(len(sorted))-1e-9 {
		n++
	}
	return sorted[max(n, 1)-1]
}

func TestQuantileIsTheNearestRank(t *testing.T) {
	// Below 2 ms the histogram is exact, so that a wrong rank shows.
	for n := 1; n <= 300; n++ {
		var samples []time.Duration
		h := NewHistogram()
		for i := range n {
			samples = append(samples, time.Duration(i+1)*time.Microsecond)
			h.Record(samples[i])
		}
		for _, q := range []float64{0.1, 0.25, 0.5, 0.51, 0.75, 0.9, 0.91, 0.95, 0.99} {
			got, ok := h.Quantile(q)
			if want := rankedTime(samples, q); ok && got != want {
				t.Fatalf("quantile %v of 1…%d us = %v, want %v", q, n, got, want)
			}
		}
	}
}

// samplesOf is a heavy-tailed distribution, as response times are.
func samplesOf(r *rand.Rand, n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(math.Exp(r.NormFloat64()*1.5+13)) + time.Millisecond
	}
	return out
}

func TestMergedQuantilesAreThoseOfThePooledSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	merged, pooled := NewHistogram(), []time.Duration(nil)
	for range 20 {
		samples := samplesOf(r, 5000)
		pooled = append(pooled, samples...)
		must.Succeed(t, merged.Merge(histogramOf(samples...)))
	}
	slices.Sort(pooled)
	for _, q := range []float64{0.01, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999} {
		got, ok := merged.Quantile(q)
		want := rankedTime(pooled, q)
		if off := math.Abs(float64(got-want)) / float64(want); !ok || off > 0.001 {
			t.Errorf("quantile %v = %v, of the pooled samples %v: %.3f %% off", q, got, want, off*100)
		}
	}
	if off := math.Abs(float64(merged.Max()-pooled[len(pooled)-1])) / float64(merged.Max()); off > 0.001 {
		t.Errorf("max %v, want %v", merged.Max(), pooled[len(pooled)-1])
	}
	if off := math.Abs(float64(merged.Min()-pooled[0])) / float64(merged.Min()); off > 0.001 {
		t.Errorf("min %v, want %v", merged.Min(), pooled[0])
	}
}

func encoded(t *testing.T, h *Histogram) string {
	t.Helper()
	s, err := h.Encode()
	must.Succeed(t, err)
	return s
}

func TestMergeIsAssociativeAndCommutative(t *testing.T) {
	of := func(raw []uint32) *Histogram {
		h := NewHistogram()
		for _, v := range raw {
			h.Record(time.Duration(v) * 2 * time.Microsecond) // some beyond an hour
		}
		return h
	}
	sum := func(hs ...*Histogram) *Histogram {
		s := NewHistogram()
		for _, h := range hs {
			must.Succeed(t, s.Merge(h))
		}
		return s
	}
	property := func(x, y, z []uint32) bool {
		a, b, c := of(x), of(y), of(z)
		want := sum(a, b, c)
		for _, got := range []*Histogram{sum(sum(a, b), c), sum(a, sum(b, c)), sum(c, b, a), of(slices.Concat(x, y, z))} {
			if got.Count() != want.Count() || got.Clamped() != want.Clamped() || !got.Equal(want) {
				return false
			}
		}
		return want.Count() == int64(len(x)+len(y)+len(z))
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 15}); err != nil {
		t.Error(err)
	}
}

func TestMergeOfNothing(t *testing.T) {
	h := histogramOf(time.Second)
	if err := h.Merge(nil); err != nil || h.Count() != 1 {
		t.Errorf("Merge(nil) = %v, count %d", err, h.Count())
	}
}

// Each histogram is that of a count beyond 63 bits, once it is merged.
func TestMergeRefusesWhatDoesNotFit(t *testing.T) {
	measured := func() *Measurement {
		m := NewMeasurement(2)
		m.Journeys, m.Grouped, m.Groups = NewJourneys(1), []Request{NewRequest()}, []int32{0, 0}
		m.Requests[1].Streams = NewStreams()
		return m
	}
	for name, part := range map[string]func(*Measurement) **Histogram{
		"response times":            func(m *Measurement) **Histogram { return &m.Requests[1].Response },
		"service times":             func(m *Measurement) **Histogram { return &m.Requests[1].Service },
		"ideal times":               func(m *Measurement) **Histogram { return &m.Requests[1].Ideal },
		"times of failures":         func(m *Measurement) **Histogram { return &m.Requests[1].Failed.Response },
		"service times of failures": func(m *Measurement) **Histogram { return &m.Requests[1].Failed.Service },
		"times of streams":          func(m *Measurement) **Histogram { return &m.Requests[1].Streams.Times[MeanGap] },
		"times of a group":          func(m *Measurement) **Histogram { return &m.Grouped[0].Response },
		"times of journeys":         func(m *Measurement) **Histogram { return &m.Journeys[0].Time },
		"journeys under way":        func(m *Measurement) **Histogram { return &m.Journeys[0].Unfinished },
		"ideal times of journeys":   func(m *Measurement) **Histogram { return &m.Journeys[0].Ideal },
		"lateness":                  func(m *Measurement) **Histogram { return &m.Lateness },
		"read lateness":             func(m *Measurement) **Histogram { return &m.ReadLateness },
		"handshakes":                func(m *Measurement) **Histogram { return &m.Handshakes },
	} {
		huge, second := NewHistogram(), histogramOf(time.Second)
		huge.RecordN(5*time.Microsecond, math.MaxInt64)
		one, other := measured(), measured()
		*part(one), *part(other) = huge, second
		if err := one.Merge(other); err == nil {
			t.Errorf("%s: a count beyond 63 bits was merged", name)
		}
	}
	m := measured()
	m.Requests[0].Response = histogramOf(time.Second)
	m.Requests[1].Response.RecordN(5*time.Microsecond, math.MaxInt64)
	_, total := m.Total()
	_, grouped := m.Group([]int32{0, 0})
	m.Requests[1].Response, m.Grouped[0].Response = NewHistogram(), m.Requests[1].Response
	if _, err := m.Total(); err == nil || total == nil || grouped == nil {
		t.Errorf("counts beyond 63 bits are added up: %v, %v, %v", err, total, grouped)
	}
}

func TestCloneAndResetAreIndependent(t *testing.T) {
	h := histogramOf(time.Second, 2*time.Hour)
	c := h.Clone()
	h.Reset()
	if h.Count() != 0 || h.Clamped() != 0 || h.Max() != 0 {
		t.Errorf("after Reset: count %d, clamped %d, max %v", h.Count(), h.Clamped(), h.Max())
	}
	if c.Count() != 2 || c.Clamped() != 1 {
		t.Errorf("the clone has %d times, %d clamped; want 2 and 1", c.Count(), c.Clamped())
	}
}

func TestEncodeAndDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, h := range map[string]*Histogram{
		"empty":   NewHistogram(),
		"one":     histogramOf(time.Second),
		"zero":    histogramOf(0, 0, 0),
		"clamped": histogramOf(2*time.Hour, time.Hour),
		"many":    histogramOf(samplesOf(r, 10000)...),
	} {
		t.Run(name, func(t *testing.T) {
			text := encoded(t, h)
			got, err := DecodeHistogram(text, h.Clamped())
			must.Succeed(t, err)
			if got.Count() != h.Count() || got.Clamped() != h.Clamped() || !got.Equal(h) {
				t.Errorf("decoded %d times, %d clamped; want %d and %d", got.Count(), got.Clamped(), h.Count(), h.Clamped())
			}
			if again := encoded(t, got); again != text {
				t.Error("it encodes differently after decoding")
			}
		})
	}
}

func TestHistogramOfTheCountsOfAnother(t *testing.T) {
	h := histogramOf(append(samplesOf(rand.New(rand.NewPCG(7, 8)), 10000), 0, Highest, 2*Highest)...)
	counts := h.Counts()
	got := HistogramOf(counts, h.Clamped())
	if got.Count() != h.Count() || got.Clamped() != h.Clamped() || got.Mean() != h.Mean() || encoded(t, got) != encoded(t, h) {
		t.Errorf("%d times, %d clamped, mean %v; want %d, %d and %v", got.Count(), got.Clamped(), got.Mean(), h.Count(), h.Clamped(), h.Mean())
	}
	clear(counts)
	if got.Max() != Highest || h.Max() != Highest {
		t.Errorf("after the counts were cleared the longest are %v and %v, want %v", got.Max(), h.Max(), Highest)
	}
}

func TestDecodeHistogramRefuses(t *testing.T) {
	good := encoded(t, histogramOf(time.Second, time.Minute))
	foreign := func(low, high int64, digits int, values ...int64) string {
		hdr := hdrhistogram.New(low, high, digits)
		for _, v := range values {
			must.Succeed(t, hdr.RecordValue(v))
		}
		b, err := hdr.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		must.Succeed(t, err)
		return string(b)
	}
	hour := int64(time.Hour / time.Microsecond)
	tests := map[string]struct {
		text    string
		clamped int64
		want    string
	}{
		"nothing":                     {"", 0, "too short"},
		"no base64":                   {"%%%", 0, "illegal base64"},
		"half of one":                 {good[:len(good)/2], 0, "decode histogram"},
		"another format":              {"AAAAAAAAAAAAAAAA", 0, "only V2"},
		"other digits":                {foreign(1, hour, 2), 0, "bounds differ"},
		"another highest":             {foreign(1, 2*hour, 3), 0, "bounds differ"},
		"another lowest":              {foreign(1000, hour, 3), 0, "bounds differ"},
		"a value beyond the highest":  {foreign(1, hour, 3, hour+hour/10), 0, "beyond 1 h"},
		"clamped below zero":          {good, -1, "-1 of 2 values clamped"},
		"more clamped than there are": {good, 3, "3 of 2 values clamped"},
		"as much as there can be":     {strings.Repeat("A", maxEncoded), 0, "only V2"},
		"more than there can be":      {strings.Repeat("A", maxEncoded+1), 0, "at most"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h, err := DecodeHistogram(tt.text, tt.clamped)
			if err == nil || !strings.Contains(err.Error(), tt.want) || h != nil {
				t.Errorf("DecodeHistogram = %v, %v; want …%s…", h, err, tt.want)
			}
		})
	}
}

func TestTheLargestEncodingIsAccepted(t *testing.T) {
	h := NewHistogram()
	r := rand.New(rand.NewPCG(5, 6))
	for v := int64(0); v <= int64(Highest/Lowest); v += max(1, v/2048) {
		h.RecordN(time.Duration(v)*Lowest, r.Int64N(1<<40))
	}
	text := encoded(t, h)
	if _, err := DecodeHistogram(text, 0); err != nil {
		t.Errorf("DecodeHistogram of %d bytes = %v", len(text), err)
	}
}

func FuzzDecodeHistogram(f *testing.F) {
	for _, h := range []*Histogram{NewHistogram(), histogramOf(time.Second), histogramOf(0, time.Hour, 3*time.Millisecond)} {
		text, err := h.Encode()
		must.Succeed(f, err)
		f.Add(text, int64(0))
		f.Add(text, int64(1))
		f.Add(text[:len(text)-4], int64(0))
	}
	f.Fuzz(func(t *testing.T, text string, clamped int64) {
		h, err := DecodeHistogram(text, clamped)
		if err != nil {
			return
		}
		if h.Count() < 0 || h.Clamped() > h.Count() || h.Min() > h.Max() || h.Max() > Highest {
			t.Errorf("count %d, clamped %d, from %v to %v", h.Count(), h.Clamped(), h.Min(), h.Max())
		}
		// A count near 2^63 may not fit twice, but must not go wrong silently.
		before := h.Count()
		if err := h.Merge(h.Clone()); err == nil && h.Count() != 2*before {
			t.Errorf("merged with itself: %d, want twice %d", h.Count(), before)
		}
	})
}

func TestLongerThanCountsAndAddsUp(t *testing.T) {
	h := NewHistogram()
	h.RecordN(time.Millisecond, 10)
	h.RecordN(2*time.Millisecond, 3)
	h.Record(2 * Highest)
	if n, sum := h.LongerThan(time.Millisecond); n != 4 || sum != 6*time.Millisecond+Highest {
		t.Errorf("%d times of %v together, want 4 of 1h0m0.006s", n, sum)
	}
}

package wire

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// blockOf is a block whose counts have so many bits, the first of which are given, after so many
// others.
func blockOf(skipped uint64, w width, first ...uint64) []byte {
	var of [blockSlots]uint64
	copy(of[:], first)
	return appendBlock(counts(skipped<<widthBits|uint64(w)), w, &of)
}

// unpacked are packed counts by slot, as the protocol describes them: bit by bit.
func unpacked(b []byte) []int64 {
	dense := make([]int64, measure.Slots)
	for block := 0; len(b) > 0; block++ {
		key, size := binary.Uvarint(b)
		block += int(key / 4)
		width := 1 << (key % 4) // bits of a count
		numbers := b[size:][:8*width]
		for s := range 64 {
			part := s / 8 // of all the bits of the s mod 8-th bytes
			for i := range width {
				bit := part*width + i
				set := numbers[bit/8*8+s%8] >> (bit % 8) & 1
				dense[64*block+s] |= int64(set) << i
			}
		}
		b = b[size+len(numbers):]
	}
	return dense
}

// denseHistogram counts in about one of sparse slots, up to most each.
func denseHistogram(rng *rand.Rand, sparse int, most int64) []int64 {
	dense := make([]int64, measure.Slots)
	for slot := range dense {
		if rng.IntN(sparse) == 0 {
			dense[slot] = 1 + rng.Int64N(most)
		}
	}
	return dense
}

// sameCounts compares all slots; a difference is looked for only if there is one.
func sameCounts(t *testing.T, what string, want, got []int64) {
	t.Helper()
	if !slices.Equal(want, got) {
		same.As(t, what, want, got)
	}
}

func TestPackedHistogramsAddUpToTheSameCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, sparse := range []int{1, 5, 1000} {
		for _, most := range []int64{1, 3, 6, 15, 255, 256, 1 << 30} {
			want, sum := make([]int64, measure.Slots), newTimeSum()
			for range 2 { // the memory of one sum is that of the next
				clear(want)
				for range 3 {
					dense := denseHistogram(rng, sparse, most)
					m := &workerv1.Histogram{Counts: encodeCounts(dense), Clamped: 1}
					m.Counts, m.Packed = packCounts(m.Counts)
					h, err := readHistogram(m, maxCount)
					must.Succeed(t, err)
					sum.add(h)
					var total int64
					for slot, n := range dense {
						want[slot] += n
						total += n
					}
					if h.total != total || h.isEmpty() != (total == 0) || h.size() != len(m.Counts)+len(m.Packed) {
						t.Fatalf("%d counts in %d bytes, want %d", h.total, h.size(), total)
					}
					rest := unpacked(m.Packed)
					h.addTo(rest)
					sameCounts(t, "what the packed counts and the rest mean", dense, rest)
				}
				got := sum.take()
				sameCounts(t, "the sum", want, got.Counts())
				if got.Clamped() != 3 {
					t.Errorf("%d are clamped, want 3", got.Clamped())
				}
			}
		}
	}
}

// A thousand workers' counts of each width have no room in a byte.
func TestNoByteOverflowsInTheSumOfAThousandWorkers(t *testing.T) {
	for _, n := range []int64{1, 3, 15, 255} {
		h, err := readHistogram(&workerv1.Histogram{Packed: blockOf(uint64(blocks-1), widthFor(uint64(n)), slices.Repeat([]uint64{uint64(n)}, blockSlots)...)}, maxCount)
		must.Succeed(t, err)
		sum := newTimeSum()
		for range 1000 {
			sum.add(h)
		}
		for slot, got := range sum.take().Counts()[(blocks-1)*blockSlots:][:blockSlots] {
			if got != 1000*n {
				t.Fatalf("slot %d of the last block counts %d, want %d", slot, got, 1000*n)
			}
		}
	}
}

func TestWidthIsTheLeastThatHasRoom(t *testing.T) {
	for most := uint64(1); most <= maxPacked; most++ {
		w := widthFor(most)
		if room := uint64(1) << (1 << w); most >= room || w > 0 && most < 1<<(1<<(w-1)) {
			t.Errorf("counts up to %d have %d bits", most, 1<<w)
		}
	}
}

func TestReadPackedRefuses(t *testing.T) {
	one := blockOf(0, 0, 1)
	for name, test := range map[string]struct {
		counts, in []byte
		want       string
	}{
		"a key without a block":                 {nil, []byte{0}, "packed: truncated"},
		"half a block":                          {nil, one[:5], "packed: truncated"},
		"a second block of which half is":       {nil, append(slices.Clone(one), blockOf(0, 1, 2)[:9]...), "packed: truncated"},
		"an unfinished key":                     {nil, []byte{0x80}, "packed: truncated"},
		"a padded key":                          {nil, append([]byte{0x80, 0}, one[1:]...), "packed: an integer is overlong"},
		"a key of 65 bits":                      {nil, bytes.Repeat([]byte{0xff}, 20), "packed: an integer is overlong"},
		"a block after the last whole one":      {nil, blockOf(uint64(blocks), 0, 1), "packed: a time is longer than 1h0m0s"},
		"another after the last":                {nil, append(blockOf(uint64(blocks-1), 0, 1), one...), "packed: a time is longer than 1h0m0s"},
		"the longest gap":                       {nil, blockOf(1<<61, 0, 1), "packed: a time is longer than 1h0m0s"},
		"the longest gap after others":          {nil, append(slices.Clone(one), blockOf(1<<62-1, 0, 1)...), "packed: a time is longer than 1h0m0s"},
		"a block without counts":                {nil, blockOf(0, 0), "wider than they need be"},
		"counts of one bit in two":              {nil, blockOf(0, 1, 1, 0, 1), "wider than they need be"},
		"counts of two bits in four":            {nil, blockOf(0, 2, 3, 3), "wider than they need be"},
		"counts of four bits in eight":          {nil, blockOf(0, 3, 4, 6), "wider than they need be"},
		"more than sent, of one bit each":       {nil, blockOf(0, 0, slices.Repeat([]uint64{1}, 11)...), "count: more than sent, 10"},
		"more than sent, of two":                {nil, blockOf(0, 1, 3, 3, 3, 2), "count: more than sent, 10"},
		"more than sent, of four":               {nil, blockOf(0, 2, 4, 7), "count: more than sent, 10"},
		"more than sent, of eight":              {nil, blockOf(0, 3, slices.Repeat([]uint64{255}, blockSlots)...), "count: more than sent, 10"},
		"more than sent, in two blocks":         {nil, append(blockOf(0, 2, 6), blockOf(9, 2, 5)...), "count: more than sent, 10"},
		"more than sent, with those one by one": {counts(key(7, 6)), blockOf(0, 2, 5), "count: more than sent, 10"},
		"one by one, truncated":                 {[]byte{0x80}, one, "counts: truncated"},
		"negative, which is a large one":        {counts(key(0, 7), 1<<64-8), one, "count: more than sent, 10"},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := readHistogram(&workerv1.Histogram{Counts: test.counts, Packed: test.in}, 10)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("readHistogram: got %v, %v; want %q", h, err, test.want)
			}
		})
	}
	for name, in := range map[string][]byte{
		"the last whole block": blockOf(uint64(blocks-1), 0, 1), "all that was sent": append(blockOf(0, 2, 4), blockOf(0, 2, 6)...),
	} {
		if _, err := readHistogram(&workerv1.Histogram{Packed: in}, 10); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a packed measurement says is checked against its other counts like any.
func TestReadRefusesPackedTimesThatDoNotAddUp(t *testing.T) {
	for want, change := range map[string]func(*workerv1.RequestMeasurement){
		"requests[0].response: 9 times, and 10 requests that ended": func(r *workerv1.RequestMeasurement) {
			r.Response = &workerv1.Histogram{Packed: blockOf(0, 2, 5, 4)}
		},
		"requests[0].response: count: more than sent, 10": func(r *workerv1.RequestMeasurement) { r.Response.Packed = blockOf(0, 0, 1) },
		"requests[0].service: packed: truncated":          func(r *workerv1.RequestMeasurement) { r.Service.Packed = []byte{0} },
		"requests[0].ideal: 9 values, measured are 10": func(r *workerv1.RequestMeasurement) {
			r.Ideal = &workerv1.Histogram{Packed: blockOf(0, 2, 5, 4)}
		},
	} {
		m := honest(t)
		change(m.Requests[0])
		if _, err := Read(m, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read: %v, want %q", err, want)
		}
	}
}

// busy is a step whose histograms all have counts in neighbouring slots.
func busy() *measure.Measurement {
	s := measure.NewMeasurement(2)
	s.Journeys, s.Handshakes = measure.NewJourneys(1), measure.NewHistogram()
	for i := range s.Requests {
		r := &s.Requests[i]
		r.Ideal, r.Streams = measure.NewHistogram(), measure.NewStreams()
		for n := range 400 {
			d := time.Duration(1000+n) * time.Microsecond
			r.Response.Record(d)
			r.Service.Record(d / 2)
			r.Ideal.Record(d / 3)
			r.Failed.Record(d, d/2, d/3)
			s.Lateness.Record(d / 4)
			s.ReadLateness.Record(d / 5)
			s.Handshakes.Record(d / 6)
			r.Outcomes[measure.Timeout]++
			for k := range r.Streams.Times {
				r.Streams.Times[k].Record(d / 7)
			}
		}
		r.Sent, r.Due = 400, 400
		r.Streams.Events = 400
		s.Due += 400
	}
	j := &s.Journeys[0]
	for n := range 100 {
		j.Started, j.Due = j.Started+2, j.Due+2
		j.Complete(time.Duration(n)*time.Microsecond, time.Duration(n)*time.Microsecond/2)
		j.Unfinished.Record(time.Duration(n) * time.Microsecond)
	}
	s.ConnectionsOpened = 800
	return s
}

// All histograms of a measurement are packed, and it means the same.
func TestPackChangesNoCount(t *testing.T) {
	s := busy()
	plain, packed := travel(t, s), travel(t, s)
	Pack(packed)
	for h := range histogramsOf(packed) {
		if h.GetCounts() != nil && h.GetPacked() == nil {
			t.Errorf("this is not packed: %v", h)
		}
	}
	want, err := Decode(plain, 2)
	must.Succeed(t, err)
	got, err := Decode(packed, 2)
	must.Succeed(t, err)
	same.As(t, "after packing", flat(t, want), flat(t, got))
	both, err := Read(plain, 2)
	must.Succeed(t, err)
	other, err := Read(packed, 2)
	must.Succeed(t, err)
	if both.Size() <= other.Size() {
		t.Errorf("%d bytes packed, %d unpacked", other.Size(), both.Size())
	}
	sum, err := Merge(2, both, other) // in the middle of an upgrade
	must.Succeed(t, err)
	must.Succeed(t, want.Merge(want))
	same.As(t, "a packed one and another", flat(t, want), flat(t, sum))
}

// FuzzReadPacked: whatever is accepted has as many values as its sum, and one encoding.
func FuzzReadPacked(f *testing.F) {
	f.Add([]byte{}, blockOf(0, 0, 1), int64(10))
	f.Add(counts(key(7, 6)), append(blockOf(3, 1, 2), blockOf(0, 3, 255)...), int64(1000))
	f.Add([]byte{}, blockOf(uint64(blocks), 2, 15), int64(1000))
	f.Fuzz(func(t *testing.T, in, packed []byte, sent int64) {
		sent &= maxCount - 1
		h, err := readHistogram(&workerv1.Histogram{Counts: in, Packed: packed}, sent)
		if err != nil {
			return
		}
		want := unpacked(packed)
		var again []byte
		next := 0
		for block := range blocks {
			var of [blockSlots]uint64
			for i, n := range want[block*blockSlots:][:blockSlots] {
				of[i] = uint64(n)
			}
			if most := slices.Max(of[:]); most > 0 {
				again = append(again, appendBlock(counts(uint64(block-next)<<widthBits|uint64(widthFor(most))), widthFor(most), &of)...)
				next = block + 1
			}
		}
		if !bytes.Equal(again, packed) {
			t.Errorf("accepted % x, which would be sent as % x", packed, again)
		}
		h.addTo(want)
		sum := newTimeSum()
		sum.add(h)
		got := sum.take()
		sameCounts(t, "the counts", want, got.Counts())
		if got.Count() != h.total || h.total > sent {
			t.Errorf("%d values, the counts are %d, sent are %d", h.total, got.Count(), sent)
		}
	})
}

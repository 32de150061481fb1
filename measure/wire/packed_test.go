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

// packedOf are packed counts by slot.
func packedOf(bySlot map[int]uint64) []byte {
	var p packing
	var all [words][wordSlots]uint64
	for slot, n := range bySlot {
		all[slot/wordSlots][slot%wordSlots] = n
	}
	for word := range all {
		p.addPacked(word, planes, &all[word])
	}
	return p.takePacked()
}

// group is one of packed counts, after so many others without a bit.
func group(skipped int, filled uint64, words ...uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{byte(skipped)}, filled)
	for _, v := range words {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// unpacked are packed counts by slot, as the protocol describes them: bit by bit.
func unpacked(b []byte) []int64 {
	dense := make([]int64, measure.Slots)
	for group := 0; len(b) > 0; group++ {
		group += int(b[0])
		filled := b[1:][:8]
		b = b[9:]
		for w := range 64 {
			if filled[w/8]>>(w%8)&1 == 0 {
				continue
			}
			for s := range 64 {
				if b[s/8]>>(s%8)&1 == 1 {
					dense[64*(64*(group%6)+w)+s] += 1 << (group / 6)
				}
			}
			b = b[8:]
		}
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
		for _, most := range []int64{1, 3, 6, 255, 1<<16 - 1, 1 << 16, 1 << 30} {
			want, sum := make([]int64, measure.Slots), newTimeSum()
			for range 2 { // the memory of one sum is that of the next
				clear(want)
				for range batchSize + 3 {
					dense := denseHistogram(rng, sparse, most)
					m := new(packing).fromHistogram(measure.HistogramOf(dense, 1))
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
				if got.Clamped() != batchSize+3 {
					t.Errorf("%d are clamped, want 11", got.Clamped())
				}
			}
		}
	}
}

// Packed, 64 slots take eight bytes for each bit of their largest count: at most four for each count.
func TestCountsArePackedWhereThatTakesAtMostFourBytesForEach(t *testing.T) {
	type run struct {
		slot, slots int
		count       int64
	}
	for name, test := range map[string]struct {
		counts []run
		want   bool
	}{
		"one":                             {[]run{{0, 1, 1}}, false},
		"two":                             {[]run{{0, 2, 1}}, true},
		"three of two bits":               {[]run{{0, 3, 3}}, false},
		"four of two bits":                {[]run{{0, 4, 3}}, true},
		"three after one in another word": {[]run{{63, 1, 1}, {64, 3, 3}}, false},
		"32 of as many bits as there are": {[]run{{64, 32, 1 << planes / 2}}, true},
		"64 of one bit more":              {[]run{{64, 64, 1 << planes}}, false},
		"all of the last word":            {[]run{{wordSlots * (words - 1), wordSlots, 1}}, true},
		"all after the last word":         {[]run{{wordSlots * words, int(measure.Slots) % wordSlots, 1}}, false},
	} {
		dense := make([]int64, measure.Slots)
		for _, r := range test.counts {
			for slot := r.slot; slot < r.slot+r.slots; slot++ {
				dense[slot] = r.count
			}
		}
		if m := new(packing).fromHistogram(measure.HistogramOf(dense, 0)); len(m.Packed) > 0 != test.want || len(m.Counts) > 0 == test.want {
			t.Errorf("%s: %d bytes of packed counts, %d of others", name, len(m.Packed), len(m.Counts))
		}
	}
}

// The sum of more histograms than have room in its words, with the largest counts.
func TestNoWordOverflowsInTheSum(t *testing.T) {
	const most, slot = 1<<planes - 1, words*wordSlots - 1
	h, err := readHistogram(&workerv1.Histogram{Packed: packedOf(map[int]uint64{slot: most})}, maxCount)
	must.Succeed(t, err)
	sum := newTimeSum()
	for range 3*maxAdded + 1 {
		sum.add(h)
	}
	same.As(t, "the last slot counts", (3*maxAdded+1)*most, sum.take().Counts()[slot])
}

func TestReadPackedRefuses(t *testing.T) {
	one := group(0, 1, 1)
	const all = 1<<64 - 1
	for name, test := range map[string]struct {
		counts, in []byte
		want       string
	}{
		"a key without a group":                 {nil, []byte{0}, "packed: truncated"},
		"half of what says which words":         {nil, one[:5], "packed: truncated"},
		"half a word":                           {nil, one[:13], "packed: truncated"},
		"a word of two":                         {nil, group(0, 3, 1), "packed: truncated"},
		"a second group of which half is":       {nil, append(slices.Clone(one), one[:12]...), "packed: truncated"},
		"a word after the last":                 {nil, group(planeGroups-1, 1<<lastWords, 1), "packed: a time is longer than 1h0m0s"},
		"one after the last of another plane":   {nil, group(3*planeGroups-1, 1<<lastWords, 1), "packed: a time is longer than 1h0m0s"},
		"a bit after the last":                  {nil, group(planes*planeGroups, 1, 1), "packed: a count has more than 16 bits"},
		"another after the last":                {nil, append(group(2, 1, 1), group(planes*planeGroups-3, 1, 1)...), "packed: a count has more than 16 bits"},
		"the longest gap":                       {nil, group(255, 1, 1), "packed: a count has more than 16 bits"},
		"the longest gap after others":          {nil, append(slices.Clone(one), group(255, 1, 1)...), "packed: a count has more than 16 bits"},
		"a group without words":                 {nil, group(0, 0), "packed: a word is empty"},
		"a word without bits":                   {nil, group(0, 3, 1, 0), "packed: a word is empty"},
		"more than sent, in a word":             {nil, group(0, 1, 1<<11-1), "count: more than sent, 10"},
		"more than sent, by a higher bit":       {nil, group(4*planeGroups, 1, 1), "count: more than sent, 10"},
		"more than sent, in two words":          {nil, group(0, 3, 1<<6-1, 1<<5-1), "count: more than sent, 10"},
		"more than sent, in two groups":         {nil, append(group(0, 1, 1<<6-1), group(9, 1, 7)...), "count: more than sent, 10"},
		"as many as there is room for":          {nil, group(planes*planeGroups-2, all, slices.Repeat([]uint64{all}, groupWords)...), "count: more than sent, 10"},
		"more than sent, with those one by one": {counts(key(7, 6)), group(0, 1, 1<<5-1), "count: more than sent, 10"},
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
		"the last word": group(planeGroups-1, 1<<(lastWords-1), 1), "all that was sent": append(group(0, 1, 3), group(2*planeGroups-2, 1, 1<<4-1)...),
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
			r.Response = &workerv1.Histogram{Packed: group(0, 1, 1<<9-1)}
		},
		"requests[0].response: count: more than sent, 10": func(r *workerv1.RequestMeasurement) { r.Response.Packed = group(0, 1, 1) },
		"requests[0].service: packed: truncated":          func(r *workerv1.RequestMeasurement) { r.Service.Packed = []byte{0} },
		"requests[0].ideal: 9 values, measured are 10":    func(r *workerv1.RequestMeasurement) { r.Ideal = &workerv1.Histogram{Packed: group(0, 1, 1<<9-1)} },
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
	plain, err := EncodeGroups(s, nil, false)
	must.Succeed(t, err)
	packed, err := EncodeGroups(s, nil, true)
	must.Succeed(t, err)
	if s := packed.Requests[0].Streams; slices.Contains(s.Times, nil) || slices.Contains(s.Ideal, nil) {
		t.Error("a list of times has none in a place")
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
	all := slices.Clone(other.histograms)
	for _, s := range other.streams {
		all = append(append(all, s.times[:]...), s.ideal[:]...)
	}
	for i, h := range all {
		if len(h.counts) > 0 && len(h.packed) == 0 {
			t.Errorf("histogram %d is not packed: % x", i, h.counts)
		}
	}
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
	f.Add([]byte{}, group(0, 1, 1), int64(10))
	f.Add(counts(key(7, 6)), packedOf(map[int]uint64{200: 3, 201: 255, 9000: 1<<planes - 1}), int64(1<<20))
	f.Add([]byte{}, group(planes*planeGroups-1, 1<<lastWords, 1), int64(1<<20))
	f.Fuzz(func(t *testing.T, in, packed []byte, sent int64) {
		sent &= maxCount - 1
		h, err := readHistogram(&workerv1.Histogram{Counts: in, Packed: packed}, sent)
		if err != nil {
			return
		}
		want := unpacked(packed)
		filled := map[int]uint64{}
		for slot, n := range want[:words*wordSlots] {
			filled[slot] = uint64(n)
		}
		again := packedOf(filled)
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

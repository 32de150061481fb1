package wire

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// grouped is a measurement of a running step as it arrives.
func grouped(t testing.TB, s *measure.Measurement, groups []int32) *workerv1.StepMeasurement {
	t.Helper()
	m, err := EncodeGroups(s, groups, true)
	must.Succeed(t, err)
	b, err := proto.Marshal(m)
	must.Succeed(t, err)
	arrived := &workerv1.StepMeasurement{}
	must.Succeed(t, proto.Unmarshal(b, arrived))
	return arrived
}

// What workers tell of groups is the same in all as what they tell of each request, the counts
// are those of each request, and it may be merged with what others tell of each.
func TestMergeOfGroups(t *testing.T) {
	property := func(in [3]randomMeasurement, apart, mixed bool) bool {
		groups := []int32{0, 0}
		if apart {
			groups = nil
		}
		want := measure.NewMeasurement(requests)
		want.Journeys = measure.NewJourneys(len(in[0].Journeys))
		var readings []*Reading
		for n, s := range in {
			s.Clients = nil // which are read apart
			var r *Reading
			var err error
			if n == 1 && mixed {
				r, err = Read(travel(t, s.Measurement), requests)
			} else {
				r, err = ReadGroups(grouped(t, s.Measurement, groups), requests, groups)
				for i := range s.Requests {
					s.Requests[i].Errors, s.Requests[i].Traces = nil, nil
				}
			}
			must.Succeed(t, err)
			must.Succeed(t, want.Merge(s.Measurement))
			readings = append(readings, r)
		}
		got, err := Merge(requests, readings...)
		must.Succeed(t, err)
		all, err := got.Total()
		must.Succeed(t, err)
		wantAll, err := want.Total()
		must.Succeed(t, err)
		diff := cmp.Diff(wantAll, all)
		for i := range got.Requests {
			diff += cmp.Diff(numbersOf(&want.Requests[i]), numbersOf(&got.Requests[i])) + cmp.Diff(want.Requests[i].StatusCodes, got.Requests[i].StatusCodes)
		}
		want.Requests, got.Requests, got.Grouped, got.Groups = nil, nil, nil, nil
		diff += cmp.Diff(flat(t, want), flat(t, got))
		if diff != "" {
			t.Errorf("merged by groups, each apart: %t, with one of each request: %t (-want +got):\n%s", apart, mixed, diff)
		}
		return diff == ""
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 10}); err != nil {
		t.Error(err)
	}
}

func TestReadGroupsRefusesWhatDoesNotAddUp(t *testing.T) {
	groups := []int32{0, 1, 0}
	honestGroups := func() *workerv1.StepMeasurement {
		s := measure.NewMeasurement(3)
		for i := range s.Requests {
			r := &s.Requests[i]
			for o, n := range map[measure.Outcome]int64{measure.Success: 3, measure.ServerError: 2, measure.Unfinished: 1} {
				r.Outcomes[o] = n
				r.Sent += n
				if o.Responded() {
					r.CountStatus(200+int(o), n)
				}
				if o != measure.Unfinished {
					r.Response.RecordN(1000, n)
					r.Service.RecordN(1000, n)
				}
			}
			r.Expected, r.Due = 3, 7
			s.Due, s.Unsent = s.Due+7, s.Unsent+1
		}
		return grouped(t, s, groups)
	}
	each := func(request int, change func(row []int64)) func(*workerv1.StepMeasurement) {
		return func(m *workerv1.StepMeasurement) {
			all := make([]int64, 3*perCounted)
			histogram{counts: m.GetCounts()}.addTo(all)
			change(all[request*perCounted:])
			m.Counts = encodeCounts(all)
		}
	}
	const success, status = fields, fields + measure.NumOutcomes + 200
	for want, change := range map[string]func(*workerv1.StepMeasurement){
		"":                        func(*workerv1.StepMeasurement) {},
		"requests: 1, the plan":   func(m *workerv1.StepMeasurement) { m.Requests = m.Requests[:1] },
		"counts: a slot is empty": func(m *workerv1.StepMeasurement) { m.Counts = append(m.Counts, 0) },
		"counts: truncated":       func(m *workerv1.StepMeasurement) { m.Counts = append(m.Counts, 0x80) },
		"counts: the requests of group 0 do not add up to its own":      func(m *workerv1.StepMeasurement) { m.Counts = nil },
		"counts: the requests of group 1":                               func(m *workerv1.StepMeasurement) { m.Requests[1].Late = 1 },
		"counts: requests[2].status_codes: their sum is 4, 5 completed": each(2, func(row []int64) { row[status]-- }),
		"counts: requests[2].status_codes: 42 is not a status code": each(2, func(row []int64) {
			row[status]--
			row[status-200+42]++
		}),
		"counts: requests[2].status_codes: their sum is 1, 5 completed": each(2, func(row []int64) { row[status], row[status+int(measure.ServerError)] = 1, 0 }),
		"counts: requests[2].sent: 6 is more than due, 1":               each(2, func(row []int64) { row[dueNumber] = 1 }),
		"due: 21, and 19 of the requests":                               func(m *workerv1.StepMeasurement) { m.Requests[0].Due = m.Requests[0].Sent },
		"counts: requests[2].status_codes: their sum is 5, 6 completed": each(2, func(row []int64) { row[success]++ }),
		"counts: requests[2].expected: -1 is less than 0":               each(2, func(row []int64) { row[unexpectedNumber] = 4 }),
		"counts: requests[0].expected: -1 is less than 0":               each(0, func(row []int64) { row[unexpectedNumber] = 4 }),
		"counts: requests[2].late: 7 is more than sent, 6":              each(2, func(row []int64) { row[dueNumber], row[lateNumber] = 6, 7 }),
		"counts: a time is longer": func(m *workerv1.StepMeasurement) {
			m.Counts = encodeCounts(append([]int64{1}, append(make([]int64, 3*perCounted-1), 1)...))
		},
		"counts: the requests of group 0 do": func(m *workerv1.StepMeasurement) { m.Counts = encodeCounts([]int64{maxCounted}) },
		"more than sent":                     func(m *workerv1.StepMeasurement) { m.Counts = encodeCounts([]int64{maxCounted, 1}) },
	} {
		m := honestGroups()
		change(m)
		_, err := ReadGroups(m, 3, groups)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	silent := honestGroups() // of a worker that counts no status codes, nor what was due of each
	rows := make([]int64, 3*perCounted)
	histogram{counts: silent.GetCounts()}.addTo(rows)
	for i := range 3 {
		row := rows[perCounted*i : perCounted*(i+1)]
		row[dueNumber] = 0
		clear(row[fields+measure.NumOutcomes:])
		silent.Requests[groups[i]].Due = 0
	}
	silent.Counts = encodeCounts(rows)
	if _, err := ReadGroups(silent, 3, groups); err != nil {
		t.Errorf("without status codes: %v", err)
	}
	if _, err := Read(honestGroups(), 2); err == nil || err.Error() != "counts: the measurement is of each request" {
		t.Errorf("read as that of each request: %v", err)
	}
	if _, err := EncodeGroups(measure.NewMeasurement(2), groups, false); err == nil {
		t.Error("groups of three requests are taken for two")
	}
}

// FuzzReadGroups: whatever comes as counts, it is refused or adds up.
func FuzzReadGroups(f *testing.F) {
	groups := []int32{0, 0}
	s := measure.NewMeasurement(2)
	s.Requests[1].Sent, s.Requests[1].Outcomes[measure.ServerError], s.Due = 1, 1, 1
	s.Requests[1].CountStatus(503, 1)
	s.Requests[1].Response.Record(1000)
	s.Requests[1].Service.Record(1000)
	base := grouped(f, s, groups)
	f.Add(base.GetCounts())
	f.Fuzz(func(t *testing.T, counts []byte) {
		m := proto.CloneOf(base)
		m.Counts = counts
		r, err := ReadGroups(m, 2, groups)
		if err != nil {
			return
		}
		got, err := Merge(2, r)
		must.Succeed(t, err)
		all, err := got.Total()
		must.Succeed(t, err)
		if all.Sent != 1 || all.Outcomes[measure.ServerError] != 1 || all.Response.Count() != 1 || all.StatusCodes.Sum() > 1 {
			t.Errorf("%d sent, %v, %v", all.Sent, all.Outcomes, all.StatusCodes)
		}
		if bytes.Equal(counts, base.GetCounts()) && all.StatusCodes[503] != 1 {
			t.Errorf("status codes %v, want one 503", all.StatusCodes)
		}
	})
}

// The quick check of numbers and the one that says what is wrong with them agree.
func TestNumbersAddUpIfNothingIsWrongWithThem(t *testing.T) {
	addUp := 0
	for range 100_000 {
		var n numbers
		for i := range n {
			n[i] = max(0, rand.Int64N(12)-8) // most are 0
		}
		codes := max(0, rand.Int64N(12)-8)
		if n.addUp(codes) != (n.check(codes) == nil) {
			t.Fatalf("%v with %d status codes add up: %t, and what is wrong with them is %v", n, codes, n.addUp(codes), n.check(codes))
		}
		if n.addUp(codes) {
			addUp++
		}
	}
	if addUp < 1000 {
		t.Errorf("%d of 100,000 add up", addUp)
	}
}

func TestNumbersOfARequest(t *testing.T) {
	var want numbers
	for n := range want {
		want[n] = int64(n + 1)
	}
	var r measure.Request
	want.set(&r)
	same.As(t, "numbers", want, numbersOf(&r))
	if r.Due != 1 || r.Expected != r.Outcomes[measure.Success]+r.Outcomes[measure.RateLimited]-2 || r.Sampled != fields || r.Outcomes[measure.Success] != fields+1 || slices.Max(r.Outcomes[:]) != int64(len(want)) {
		t.Errorf("the request is %+v", r)
	}
}

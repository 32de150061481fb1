package wire

import (
	"errors"
	"fmt"
	"slices"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// The numbers of a request in StepMeasurement.counts: these, then how many requests had each outcome, then how many
// had each status code. Most requests succeed, and within the window: how many do not is sent, which is 0 mostly, and
// a 0 takes no byte. Numbers of several workers can be added up: they are counts, and differences of counts.
const (
	dueNumber = iota
	// unexpectedNumber is how many with the outcome Success or RateLimited were not Expected.
	unexpectedNumber
	lateNumber
	// afterWindowNumber is how many completed, and not in the window.
	afterWindowNumber
	// outsideNumber is how many with the outcome Success are not in ExpectedInWindow.
	outsideNumber
	displacedNumber
	undecidedNumber
	excusedNumber
	sampledNumber

	// fields is how many these are.
	fields
)

const perCounted = fields + measure.NumOutcomes + measure.MaxStatus + 1

// maxCounted bounds the sum of all numbers of a step: each of the fields and of the outcomes is
// at most maxCount, and the status codes together are.
const maxCounted = 1 << 58

// numbers are those of a request that are no status code, in their order.
type numbers [fields + measure.NumOutcomes]int64

func numbersOf(r *measure.Request) numbers {
	success := r.Outcomes[measure.Success]
	n := numbers{
		dueNumber: r.Due, lateNumber: r.Late, displacedNumber: r.Displaced, undecidedNumber: r.Undecided, excusedNumber: r.Excused, sampledNumber: r.Sampled,
		unexpectedNumber:  success + r.Outcomes[measure.RateLimited] - r.Expected,
		afterWindowNumber: r.Completed() - r.CompletedInWindow,
		outsideNumber:     success - r.ExpectedInWindow,
	}
	*n.outcomes() = r.Outcomes
	return n
}

func (n *numbers) outcomes() *[measure.NumOutcomes]int64 {
	return (*[measure.NumOutcomes]int64)(n[fields:])
}

// set makes them those of a request.
func (n *numbers) set(r *measure.Request) {
	r.Outcomes = *n.outcomes()
	r.Sent = 0
	for _, of := range r.Outcomes {
		r.Sent += of
	}
	success := r.Outcomes[measure.Success]
	r.Due, r.Late, r.Displaced, r.Undecided, r.Excused, r.Sampled = n[dueNumber], n[lateNumber], n[displacedNumber], n[undecidedNumber], n[excusedNumber], n[sampledNumber]
	r.Expected = success + r.Outcomes[measure.RateLimited] - n[unexpectedNumber]
	r.CompletedInWindow = r.Completed() - n[afterWindowNumber]
	r.ExpectedInWindow = success - n[outsideNumber]
}

// EncodeGroups is one worker's measurement of a running step as it travels, by the groups of
// an assignment; without groups it is that of each request. Errors and traces are left out. packed makes it cheaper to
// merge, for a coordinator that reads packed histograms: ClockReply.packed says so.
func EncodeGroups(s *measure.Measurement, groups []int32, packed bool) (*workerv1.StepMeasurement, error) {
	var p *packing
	if packed {
		p = &packing{}
	}
	if len(groups) == 0 {
		each := *s
		each.Requests = slices.Clone(s.Requests)
		for i := range each.Requests {
			each.Requests[i].Errors, each.Requests[i].Traces = nil, nil
		}
		return p.encode(&each)
	}
	grouped, err := s.Group(groups)
	if err != nil {
		return nil, err
	}
	each := make([]int64, perCounted*len(grouped.Requests))
	for i := range grouped.Requests {
		r := &grouped.Requests[i]
		row, own := each[perCounted*i:], numbersOf(r)
		copy(row, own[:])
		for code, n := range r.StatusCodes {
			row[len(own)+code] = n
		}
		sum := &grouped.Grouped[groups[i]]
		r.StatusCodes = nil
		if err := sum.Merge(r); err != nil {
			return nil, err
		}
	}
	grouped.Requests = grouped.Grouped
	m, err := p.encode(grouped)
	if err != nil {
		return nil, err
	}
	m.Counts = encodeCounts(each)
	return m, nil
}

// counted are the counts of each request of a measurement by groups, validated, as they came.
type counted struct {
	groups []int32
	counts histogram
}

// readCounted validates the counts of each request against those of its group.
func (r *Reading) readCounted(m *workerv1.StepMeasurement, groups []int32) error {
	if len(groups) == 0 {
		if len(m.GetCounts()) > 0 {
			return errors.New("counts: the measurement is of each request")
		}
		return nil
	}
	r.counted = counted{groups: groups, counts: histogram{counts: m.GetCounts()}}
	each := rows{groups: groups, sums: make([]numbers, len(r.rest.Requests))}
	if err := each.read(m.GetCounts()); err != nil {
		return err
	}
	for g := range each.sums {
		if each.sums[g] != numbersOf(&r.rest.Requests[g]) {
			return fmt.Errorf("counts: the requests of group %d do not add up to its own", g)
		}
	}
	return nil
}

// addUp says whether the numbers of a request add up, none of which is negative, and of which so many have a status
// code. It is of each request of each worker, each second; check says why they do not.
func (n *numbers) addUp(codes int64) bool {
	outcomes := n.outcomes()
	const responded = measure.UnexpectedStatus + 1
	completed, failed := int64(0), int64(0)
	for _, of := range outcomes[:responded] {
		completed += of
	}
	for _, of := range outcomes[responded:] {
		failed += of
	}
	sent, success := completed+failed, outcomes[measure.Success]
	expected := success + outcomes[measure.RateLimited] - n[unexpectedNumber]
	return (codes == 0 || codes == completed) && (n[dueNumber] == 0 || n[dueNumber] >= sent) &&
		n[afterWindowNumber] <= completed && isPart(success-n[outsideNumber], min(success, expected)) &&
		max(n[lateNumber], n[displacedNumber]) <= sent &&
		n[undecidedNumber] <= outcomes[measure.Unfinished] && n[excusedNumber] <= outcomes[measure.Timeout]
}

// check is nil if addUp is true.
func (n *numbers) check(codes int64) error {
	var r measure.Request
	n.set(&r)
	if completed := r.Completed(); codes != 0 && codes != completed {
		return fmt.Errorf("status_codes: their sum is %d, %d completed", codes, completed)
	}
	if r.Due > 0 && r.Due < r.Sent {
		return within("sent", r.Sent, "due", r.Due)
	}
	return checkParts(&r)
}

// rows are the counts of each request, while they are read. They are read and validated at once, since there are
// thousands of rows a second.
type rows struct {
	groups []int32
	// sums has, for each group, the sum of the numbers of its requests.
	sums []numbers
	// at is the request that is read, of which own are the numbers, and codes how many have a status code.
	at    int
	own   numbers
	codes int64
}

// read validates counts as checkCounts does, and each row.
func (r *rows) read(b []byte) error {
	slot, slots, total := uint64(0), uint64(perCounted*len(r.groups)), uint64(0)
	const row = uint64(perCounted)
	begins := uint64(0) // of the request that is read
	for i := 0; i < len(b); {
		zeros, n, size := shortCount(b[i])
		if size == 0 {
			zeros, n, size = longCount(b[i:])
		}
		if zeros >= slots-slot || n == 0 || n > maxCounted-total {
			return badCount(zeros, n, size, slots-slot, maxCounted)
		}
		for slot += zeros; slot >= begins+row; begins += row {
			if err := r.end(); err != nil {
				return err
			}
		}
		if number := slot - begins; number < uint64(len(r.own)) {
			r.own[number] = int64(n)
			r.sums[r.groups[r.at]][number] += int64(n)
		} else if err := r.addCode(int(number)-len(r.own), int64(n)); err != nil {
			return err
		}
		slot, total, i = slot+1, total+n, i+size
	}
	return r.end() // of the last with a number: those after it have none, which adds up
}

// addCode adds how many responses of the request had a status code.
func (r *rows) addCode(code int, n int64) error {
	if !measure.IsStatus(code) {
		return fmt.Errorf("counts: requests[%d].status_codes: %d is not a status code", r.at, code)
	}
	r.codes += n
	return nil
}

// end checks a request whose numbers are complete.
func (r *rows) end() error {
	if !r.own.addUp(r.codes) {
		return fmt.Errorf("counts: requests[%d].%w", r.at, r.own.check(r.codes))
	}
	r.at, r.own, r.codes = r.at+1, numbers{}, 0
	return nil
}

// addCounted makes of the groups that were merged of those readings the requests of the plan,
// with their counts.
func addCounted(sum *measure.Measurement, readings []*Reading) {
	groups := readings[0].counted.groups
	each := make([]int64, perCounted*len(groups))
	for _, r := range readings {
		r.counted.counts.addTo(each)
	}
	sum.Groups, sum.Grouped, sum.Requests = groups, sum.Requests, make([]measure.Request, len(groups))
	for i := range sum.Requests {
		row := each[perCounted*i : perCounted*(i+1)]
		r := &sum.Requests[i]
		own := numbers(row)
		own.set(r)
		for code, n := range row[len(own):] {
			if n > 0 {
				r.CountStatus(code, n)
			}
		}
	}
	for g := range sum.Grouped {
		(&numbers{}).set(&sum.Grouped[g])
	}
}

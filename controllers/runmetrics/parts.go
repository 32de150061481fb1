package runmetrics

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxLabel is how many bytes of the name of a request are the value of a label: the API allows
// as many characters, each of up to four bytes.
const maxLabel = 63

// parts are the loads of the requests of a run, by name, in the order of the spec. The zero
// value has none.
type parts struct {
	list []part
	// index is where in list a request is, by its name in the status.
	index map[string]int
}

// part is the load of the requests with one label. Labels of different names may be equal, since
// they are cut.
type part struct {
	label string
	// shared reports whether several requests have the label: their percentiles do not add up.
	shared bool
	// base is of the steps that have ended, last of the step that follows them.
	base, last partCounts
	// times are those of the most recent step that has ended; nil: not known.
	times *v1beta1.Latency
}

// The counts of a part, by what they count.
const (
	partSent = iota
	partFailed
	partOutcomes
	partSize = partOutcomes + measure.NumOutcomes
)

type partCounts [partSize]int64

// counts returns how many requests were sent, failed and had each outcome so far. No count ever
// falls.
func (p *part) counts() partCounts {
	sum := p.base
	for i, n := range p.last {
		sum[i] += n
	}
	return sum
}

// name adds the requests of a run, which do not change once a step has begun, once.
func (p *parts) name(requests []v1beta1.RequestStatus) {
	if p.index != nil || len(requests) == 0 {
		return
	}
	p.index = make(map[string]int, len(requests))
	labels := make(map[string]int, len(requests))
	for i := range requests {
		label := text.Clean(requests[i].Name, maxLabel)
		at, ok := labels[label]
		if ok {
			p.list[at].shared = true
		} else {
			at = len(p.list)
			labels[label] = at
			p.list = append(p.list, part{label: label})
		}
		p.index[requests[i].Name] = at
	}
}

// record takes over what a status has of the step that has not been added up yet. It may lack
// requests for which it had no room.
func (p *parts) record(r *v1beta1.StepResult) {
	if r == nil {
		return
	}
	sums := make([]partCounts, len(p.list))
	for i := range r.Requests {
		of := &r.Requests[i]
		at, ok := p.index[of.Name]
		if !ok {
			continue
		}
		sum := &sums[at]
		sum[partSent] += of.Sent
		sum[partFailed] += of.Failed
		for o, n := range byOutcome(&of.Outcomes) {
			sum[partOutcomes+o] += n
		}
	}
	p.raise(sums)
}

// measure takes over what was measured of the step that runs. What is in flight has no outcome
// yet.
func (p *parts) measure(m *measure.Measurement, requests []v1beta1.RequestStatus) {
	if len(m.Requests) != len(requests) {
		return
	}
	sums := make([]partCounts, len(p.list))
	for i := range m.Requests {
		r := &m.Requests[i]
		at, ok := p.index[requests[i].Name]
		if !ok {
			continue
		}
		sum := &sums[at]
		sum[partSent] += r.Sent
		sum[partFailed] -= r.Expected
		for o, n := range r.Outcomes {
			if measure.Outcome(o) != measure.Unfinished {
				sum[partFailed] += n
				sum[partOutcomes+o] += n
			}
		}
	}
	p.raise(sums)
}

func (p *parts) raise(sums []partCounts) {
	for i := range p.list {
		last := &p.list[i].last
		for j, n := range sums[i] {
			last[j] = max(last[j], n)
		}
	}
}

// end adds up a step that has ended. One without a result, such as a pause, leaves the times of
// the step before it.
func (p *parts) end(r *v1beta1.StepResult) {
	for i := range p.list {
		of := &p.list[i]
		of.base, of.last = of.counts(), partCounts{}
		if r != nil {
			of.times = nil
		}
	}
	if r == nil {
		return
	}
	for i := range r.Requests {
		if at, ok := p.index[r.Requests[i].Name]; ok && !p.list[at].shared {
			p.list[at].times = r.Requests[i].ResponseTime
		}
	}
}

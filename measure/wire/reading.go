package wire

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Reading is one worker's measurement, validated. Its histograms stay as they
// came, which is small to hold and cheap to add up: those of 1000 workers would
// otherwise be hundreds of megabytes of zeros. It is immutable.
type Reading struct {
	// rest is everything but the histograms.
	rest measure.Measurement
	// histograms are the response and the service times of each request, and those of
	// its failures, then the ideal response times of both, then the lateness, that of reading
	// and the handshakes, then those of each journey.
	histograms []histogram
	// streams are those of each request; nil: it has none.
	streams []*streams
	// counted has the counts of each request, if the histograms, and the requests of rest, are
	// those of groups of requests.
	counted counted
}

// perRequest is how many histograms there are of a request.
const perRequest = 6

// perStep is how many there are of the step itself.
const perStep = 3

// Read validates what a worker sent of a step in a plan of that many requests; ReadGroups
// does so while the step runs, by the groups of the assignment, if it has any.
// Of m they keep the bytes of the histograms, which must not be modified. The ledgers of
// the audit are no part of it: ReadClients reads them.
func Read(m *workerv1.StepMeasurement, requests int) (*Reading, error) {
	return read(m, requests, nil)
}

// ReadGroups is Read of a measurement by groups, which are the index of a group for each
// request. Without groups it is of so many requests.
func ReadGroups(m *workerv1.StepMeasurement, requests int, groups []int32) (*Reading, error) {
	if len(groups) > 0 {
		requests = int(slices.Max(groups)) + 1
	}
	return read(m, requests, groups)
}

func read(m *workerv1.StepMeasurement, requests int, groups []int32) (*Reading, error) {
	if m == nil {
		return nil, errors.New("missing")
	}
	if len(m.GetRequests()) != requests {
		return nil, fmt.Errorf("requests: %d, the plan has %d", len(m.GetRequests()), requests)
	}
	r := &Reading{histograms: make([]histogram, 0, perRequest*requests+perStep+perJourney*min(len(m.GetJourneys()), measure.MaxJourneys))}
	if err := r.readTotals(m); err != nil {
		return nil, err
	}
	r.rest.Requests, r.streams = make([]measure.Request, requests), make([]*streams, requests)
	var sent int64
	for i, request := range m.GetRequests() {
		if err := r.readRequest(&r.rest.Requests[i], request); err != nil {
			return nil, fmt.Errorf("requests[%d].%w", i, err)
		}
		var err error
		if r.streams[i], err = readStreams(request.GetStreams(), &r.rest.Requests[i]); err != nil {
			return nil, fmt.Errorf("requests[%d].streams.%w", i, err)
		}
		sent += request.GetSent()
	}
	if err := errors.Join(checkDue(r.rest.Requests, r.rest.Due), r.readCounted(m, groups)); err != nil {
		return nil, err
	}
	if due, unsent := r.rest.Due, r.rest.Unsent; due != sent+unsent {
		return nil, fmt.Errorf("due: %d, and %d sent and %d unsent", due, sent, unsent)
	}
	if err := within("sessions_started", r.rest.Sessions.Started, "sent", sent); err != nil {
		return nil, err
	}
	if err := r.readHistogram("lateness", m.GetLateness(), sent); err != nil {
		return nil, err
	}
	if err := r.readHistogram("read_lateness", m.GetReadLateness(), sent); err != nil {
		return nil, err
	}
	if err := r.readHandshakes(m); err != nil {
		return nil, err
	}
	if err := r.readJourneys(m.GetJourneys(), sent, r.rest.Due); err != nil {
		return nil, err
	}
	var err error
	r.rest.Timeline, err = toTimeline(m)
	return r, err
}

// Due is how many requests were due on the worker.
func (r *Reading) Due() int64 { return r.rest.Due }

// Sessions are the sessions of a rate on the worker.
func (r *Reading) Sessions() measure.Sessions { return r.rest.Sessions }

// Sent is how many requests the worker sent.
func (r *Reading) Sent() int64 {
	var sent int64
	for i := range r.rest.Requests {
		sent += r.rest.Requests[i].Sent
	}
	return sent
}

// Size is about how many bytes it takes.
func (r *Reading) Size() int {
	const (
		request, journey   = int(unsafe.Sizeof(measure.Request{})), int(unsafe.Sizeof(measure.Journey{}))
		times, timeline    = int(unsafe.Sizeof(histogram{})), int(unsafe.Sizeof(measure.Timeline{}))
		statusCode, trace  = 32, 64
		sample             = 48 + measure.MaxErrorBytes
		countOfPunctuality = 8
	)
	n := request*len(r.rest.Requests) + journey*len(r.rest.Journeys) + times*len(r.histograms)
	for i := range r.rest.Requests {
		q := &r.rest.Requests[i]
		n += statusCode*len(q.StatusCodes) + trace*len(q.Traces) + sample*len(q.Errors) + countOfPunctuality*(len(q.OnTime)+len(q.IdealOnTime)+len(q.Overdue))
	}
	for _, s := range r.streams {
		n += s.size()
	}
	for i := range r.rest.Journeys {
		n += sizeOfSteps(&r.rest.Journeys[i])
	}
	for _, h := range r.histograms {
		if !h.borrowed {
			n += h.size()
		}
	}
	if r.rest.Timeline != nil {
		n += timeline
	}
	return n + len(r.counted.counts.counts)
}

// Window is the time over which the worker's rates are counted.
func (r *Reading) Window() time.Duration { return r.rest.Window }

func (r *Reading) readHandshakes(m *workerv1.StepMeasurement) error {
	if err := r.readHistogram("handshakes", m.GetHandshakes(), maxCount); err != nil {
		return err
	}
	all := r.histograms[len(r.histograms)-1].total
	return within("resumed_handshakes", m.GetResumedHandshakes(), "handshakes", all)
}

func (r *Reading) readHistogram(field string, m *workerv1.Histogram, sent int64) error {
	h, err := readHistogram(m, sent)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	r.histograms = append(r.histograms, h)
	return nil
}

// Merge adds up the readings of several workers of one plan of that many
// requests; it is what measure.Measurement.Merge would make of them.
func Merge(requests int, readings ...*Reading) (*measure.Measurement, error) {
	grouped := slices.DeleteFunc(slices.Clone(readings), func(r *Reading) bool { return r.counted.groups == nil })
	if len(grouped) == 0 {
		return merge(requests, readings)
	}
	sum, err := merge(len(grouped[0].rest.Requests), grouped)
	if err != nil {
		return nil, err
	}
	addCounted(sum, grouped)
	if len(grouped) == len(readings) {
		return sum, nil
	}
	each, err := merge(requests, slices.DeleteFunc(slices.Clone(readings), func(r *Reading) bool { return r.counted.groups != nil }))
	if err != nil {
		return nil, err
	}
	return each, each.Merge(sum)
}

// merge adds up readings of so many requests, or groups.
func merge(requests int, readings []*Reading) (*measure.Measurement, error) {
	sum := &measure.Measurement{Requests: make([]measure.Request, requests)}
	if len(readings) > 0 {
		sum.Journeys = make([]measure.Journey, readings[0].Journeys())
	}
	for _, r := range readings {
		// Without histograms, which are nil on both sides, this adds the rest.
		if err := sum.Merge(&r.rest); err != nil {
			return nil, err
		}
	}
	// One histogram at a time, in the memory of the one before.
	times := timeSums.Get().(*timeSum)
	histogram := func(i int) *measure.Histogram {
		for _, r := range readings {
			times.add(r.histograms[i])
		}
		return times.take()
	}
	ideal := func(i int) *measure.Histogram {
		if !slices.ContainsFunc(readings, func(r *Reading) bool { return r.histograms[i].isOwn() }) {
			return nil
		}
		return histogram(i)
	}
	isEmpty := func(i int) bool {
		return !slices.ContainsFunc(readings, func(r *Reading) bool { return !r.histograms[i].isEmpty() })
	}
	for i := range sum.Requests {
		first := perRequest * i
		sum.Requests[i].Response, sum.Requests[i].Service = histogram(first), histogram(first+1)
		if !isEmpty(first+2) || !isEmpty(first+3) {
			sum.Requests[i].Failed = measure.FailedTimes{Response: histogram(first + 2), Service: histogram(first + 3), Ideal: ideal(first + 5)}
		}
		sum.Requests[i].Ideal = ideal(first + 4)
		sum.Requests[i].Streams = mergeStreams(i, readings, times)
	}
	last := perRequest * requests
	sum.Lateness, sum.ReadLateness = histogram(last), histogram(last+1)
	if !isEmpty(last + 2) {
		sum.Handshakes = histogram(last + 2)
	}
	for i := range sum.Journeys {
		first := last + perStep + perJourney*i
		sum.Journeys[i].Time, sum.Journeys[i].Unfinished = histogram(first), histogram(first+1)
		sum.Journeys[i].Ideal = ideal(first + 2)
	}
	timeSums.Put(times) // a merge that panics leaves it, since it may not be empty
	return sum, nil
}

// Decode reads what a worker sent of a step in a plan of that many requests.
func Decode(m *workerv1.StepMeasurement, requests int) (*measure.Measurement, error) {
	r, err := Read(m, requests)
	if err != nil {
		return nil, err
	}
	clients, err := ReadClients(m)
	if err != nil {
		return nil, err
	}
	merged, err := Merge(requests, r)
	if err != nil {
		return nil, err
	}
	merged.Clients = clients
	return merged, nil
}

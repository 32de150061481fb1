package attack

import (
	"maps"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// maxCells bounds the memory of a recorder: a cell has two times four
	// histograms.
	maxCells = 64
	// histogramMemory is the most that a histogram takes.
	histogramMemory = 188 << 10
)

// Memory is the memory for counting a mix of so many requests and journeys: the cells,
// their sum, the times of failures, the journeys and a copy, the series, and as much again for the last step, whose
// recorder is garbage that may not have been collected when the next one's is full. So many of the requests
// are streams, whose times are there once, and in a copy.
func Memory(requests, journeys, streams int) int64 {
	n := shards(requests)
	cells := int64(n) * int64(requests)
	events := 2 * 2 * int64(measure.NumStreamTimes) * int64(streams)
	return 2 * ((8*cells+7*int64(requests)+6*int64(journeys)+events+2)*histogramMemory + seriesMemory(n))
}

// shards is the number of them, one for each processor while they are not too
// large.
func shards(requests int) int { return max(1, min(processors(), maxCells/max(1, requests))) }

// recorder counts the requests of a step. Each connection writes to one of a few
// shards, so that they seldom wait for each other.
type recorder struct {
	shards  [][]cell        // by shard, then by request
	series  []series        // fewer than there are shards
	courses []course        // as many
	failed  []failedTimes   // by request
	streams []streams       // likewise
	traces  []keptTraces    // likewise
	times   []time.Duration // within which requests are on time, ascending
	goals   []measure.StreamGoal
	last    latest // end of a request
	waits   waits
	of      courseOf
	// displaced is how much later than a perfect generator would have sent it a request is
	// sent if it is displaced.
	displaced time.Duration

	journeys []journeyCounts

	errors  []samples      // by request
	clients *clientLedgers // nil: no audit

	mu    sync.Mutex
	total *measure.Measurement // of all that was collected
}

// cell counts one request of the mix in one shard. Collecting swaps the counters,
// so that no request waits while they are added up.
type cell struct {
	mu       sync.Mutex
	counters *counters
	spare    *counters
}

type counters struct {
	request  measure.Request
	lateness *measure.Histogram
	reused   int64
	// status is that of the last responses, of which so many are not in the request yet: to
	// count each there is an access to a map.
	status, statuses int64
}

// countStatus counts a whole response of a status.
func (p *counters) countStatus(code int) {
	if int64(code) != p.status {
		p.countStatuses()
		p.status = int64(code)
	}
	p.statuses++
}

// countStatuses counts in the request what is not yet.
func (p *counters) countStatuses() {
	if p.statuses > 0 {
		p.request.CountStatus(int(p.status), p.statuses)
		p.statuses = 0
	}
}

func newCounters(times int) *counters {
	c := &counters{request: measure.NewRequest(), lateness: measure.NewHistogram()}
	c.request.Ideal = measure.NewHistogram()
	if times > 0 {
		c.request.OnTime, c.request.IdealOnTime = make([]int64, times), make([]int64, times)
	}
	return c
}

func (p *counters) reset() {
	p.request.Reset()
	p.lateness.Reset()
	p.reused = 0
}

func newRecorder(requests int, window time.Duration, times []time.Duration, clients *clientLedgers) *recorder {
	r := &recorder{
		total: measure.NewMeasurement(requests), failed: make([]failedTimes, requests), streams: make([]streams, requests), traces: make([]keptTraces, requests), errors: make([]samples, requests), times: times,
		clients: clients, waits: waits{times: measure.NewHistogram()}, displaced: never,
	}
	r.shards = make([][]cell, shards(requests))
	r.series = newSeries(len(r.shards), window)
	r.courses = newCourses(len(r.series), window)
	for i := range r.shards {
		r.shards[i] = make([]cell, requests)
		for j := range r.shards[i] {
			r.shards[i][j] = cell{counters: newCounters(len(times)), spare: newCounters(len(times))}
		}
	}
	return r
}

func (r *recorder) cell(shard, request int) *cell {
	return &r.shards[shard%len(r.shards)][request]
}

// countSent counts a request that is about to be sent.
func (r *recorder) countSent(shard int, h *hit) {
	c := r.cell(shard, h.request)
	c.mu.Lock()
	p := c.counters
	p.request.Sent++
	if h.sent-h.due > measure.LateAfter {
		p.request.Late++
	}
	if h.sampled {
		p.request.Sampled++
	}
	if h.sent-h.idealSent > r.displaced {
		p.request.Displaced++
	}
	p.lateness.Record(h.sent - max(h.due, h.free))
	c.mu.Unlock()
	r.series[shard%len(r.series)].countSent(h)
}

// enterLedger enters a request that was counted, and goes to the target whose contract is audited, in
// the ledger of its client.
func (r *recorder) enterLedger(h *hit, client []byte) {
	if r.clients != nil {
		h.ledger = r.clients.sent(client, h.sent)
	}
}

// countRedirect counts a redirect that is followed.
func (r *recorder) countRedirect(shard int, h *hit) {
	c := r.cell(shard, h.request)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counters.request.Redirects++
}

// countEnd counts the outcome of a request that was sent. An unfinished one is not
// counted: it is one that was sent and did not end.
func (r *recorder) countEnd(shard int, h *hit, res result) {
	if r.clients != nil && !h.redirect.LeftTarget() {
		r.clients.resolve(h.ledger, h.sent, res.received, res.decision())
	}
	if res.waited > 0 && res.sampled {
		r.waits.record(res.waited)
	}
	r.series[shard%len(r.series)].countEnd(h, res)
	if res.outcome != measure.Unfinished && res.outcome != measure.Success {
		f := &r.failed[h.request]
		f.mu.Lock() // before the cell's: collect does so, too
		defer f.mu.Unlock()
		f.times.Record(res.received-h.due, res.received-h.sent, h.idealResponse(res))
	}
	c := r.cell(shard, h.request)
	c.mu.Lock()
	defer c.mu.Unlock()
	if res.reused {
		c.counters.reused++
	}
	q := &c.counters.request
	if res.outcome == measure.Unfinished {
		if res.undecided {
			q.Undecided++
		}
		return
	}
	r.last.note(res.received)
	if res.excused() {
		q.Excused++
	}
	ideal := h.idealResponse(res)
	q.Outcomes[res.outcome]++
	if res.outcome.Responded() {
		c.counters.countStatus(res.status)
	}
	q.Response.Record(res.received - h.due)
	q.Service.Record(res.received - h.sent)
	q.Ideal.Record(ideal)
	if res.expected {
		q.Expected++
	}
	if res.outcome == measure.Success {
		r.countOnTime(q.OnTime, res.received-h.due)
		r.countOnTime(q.IdealOnTime, ideal)
	}
	if res.inWindow {
		countInWindow(q, res.outcome)
	}
}

func countInWindow(q *measure.Request, o measure.Outcome) {
	if o.Responded() {
		q.CompletedInWindow++
	}
	if o == measure.Success {
		q.ExpectedInWindow++
	}
}

func (r *recorder) countOnTime(counts []int64, response time.Duration) {
	for i, within := range r.times {
		if response <= within {
			counts[i]++
		}
	}
}

// collect returns a copy of all counts. For each request of the mix it is of one
// instant: the outcomes add up to the number that was sent.
func (r *recorder) collect() (*measure.Measurement, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := measure.NewMeasurement(len(r.total.Requests))
	journeys, err := r.collectJourneys()
	if err != nil {
		return nil, err
	}
	// They come first, since a request is counted as sent before it is read: there are
	// never more of them than were sent.
	if err := r.waits.addTo(out.ReadLateness); err != nil {
		return nil, err
	}
	r.collectTraces(out)
	for i := range out.Requests {
		if err := r.streams[i].addTo(&out.Requests[i]); err != nil {
			return nil, err
		}
		if err := r.drain(i, &out.Requests[i].Failed); err != nil {
			return nil, err
		}
	}
	if err := out.Merge(r.total); err != nil {
		return nil, err
	}
	r.addCourseTo(out)
	out.Journeys = journeys
	for i := range out.Requests {
		countUnfinished(&out.Requests[i])
		out.Requests[i].Errors = r.errors[i].all()
	}
	return out, nil
}

// drain adds what was counted of a request to the total, and copies the times of its
// failures. No failure is counted meanwhile, so that each is in both or in neither.
func (r *recorder) drain(request int, failed *measure.FailedTimes) error {
	f := &r.failed[request]
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range r.shards {
		if err := r.shards[i][request].drain(r.total, request); err != nil {
			return err
		}
	}
	return failed.Merge(&f.times)
}

// drain adds the cell's counters to a total and empties it. Only one goroutine may
// drain at a time.
func (c *cell) drain(total *measure.Measurement, request int) error {
	c.mu.Lock()
	c.counters, c.spare = c.spare, c.counters
	full := c.spare
	c.mu.Unlock()
	defer full.reset()
	full.countStatuses()
	total.Reused += full.reused
	if err := total.Requests[request].Merge(&full.request); err != nil {
		return err
	}
	return total.Lateness.Merge(full.lateness)
}

// failedTimes are the times of a request's failures. Failures are few, or come from a
// target that does not work: one lock is enough for all shards.
type failedTimes struct {
	mu    sync.Mutex
	times measure.FailedTimes
}

// waits are how long responses waited to be read. They are known of a few connections
// only, so that one histogram is enough for all shards.
type waits struct {
	mu    sync.Mutex
	times *measure.Histogram
}

func (w *waits) record(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.times.Record(d)
}

func (w *waits) addTo(sum *measure.Histogram) error {
	w.mu.Lock()
	times := w.times.Clone() // which takes less time than to add them up, for which requests would wait
	w.mu.Unlock()
	return sum.Merge(times)
}

// countUnfinished counts requests that were sent and have not ended as unfinished.
func countUnfinished(q *measure.Request) {
	left := q.Sent
	for o, n := range q.Outcomes {
		if measure.Outcome(o) != measure.Unfinished {
			left -= n
		}
	}
	q.Outcomes[measure.Unfinished] = left
}

// samples keeps the first message of each failing outcome of a request.
type samples struct {
	mu    sync.Mutex
	texts map[measure.Outcome]string
}

// add keeps the text unless the class has one; message is only called then.
func (s *samples) add(o measure.Outcome, message func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.texts[o]; ok {
		return
	}
	if s.texts == nil {
		s.texts = map[measure.Outcome]string{}
	}
	s.texts[o] = text.Truncate(message(), measure.MaxErrorBytes)
}

func (s *samples) all() map[measure.Outcome]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.texts)
}

package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// LateAfter is how long after its due time a request counts as late.
const LateAfter = 10 * time.Millisecond

// MaxErrorBytes is how much of an error's text is kept: enough for a dial error
// with two addresses, short enough for a status.
const MaxErrorBytes = 256

// Measurement is what one worker, or all of them merged, measured in a step so
// far.
type Measurement struct {
	// Requests has one entry for each request of the plan, in its order.
	Requests []Request
	// Grouped are the times of what workers told of groups of requests alone, and how many of
	// these were on time, while the step ran, by Groups, which has for each request the index
	// of its group. nil: each worker told them of each request. They are no part of Requests,
	// of which the histograms are nil if all workers told them of groups: see Of.
	Grouped []Request
	Groups  []int32
	// Journeys has one entry for each journey of the plan, in its order.
	Journeys []Journey
	// Due is how many requests the schedule asked for so far.
	Due int64
	// Unsent is how many due requests were not sent; the unsent of a step that
	// still runs may yet be sent.
	Unsent int64
	// UnsentWithoutRoom is how many of these found no room on the connections that arrivals
	// share (the target was slow, or permits too few at once), or found that requests without an
	// answer had taken all connections that the worker can have.
	UnsentWithoutRoom int64
	// UnsentByGenerator is how many of the unsent requests a perfect generator would have sent.
	UnsentByGenerator int64
	// Sessions are those of a rate that the mix carries out in sessions; zero of any other load.
	Sessions Sessions
	// Replay is what became of the lines of a log; nil: the step sends none.
	Replay *Replay
	// Lateness is how late the generator sent requests that it was free to send:
	// its own error, not the target's.
	Lateness *Histogram
	// ReadLateness is how long responses were in the worker's machine before it read
	// them, which is its own error, too. It is known of the connections of which the
	// kernel says when bytes came.
	ReadLateness *Histogram
	// ConnectionsOpened is how many connections were opened.
	ConnectionsOpened int64
	// OpenedInWindow is how many of them were opened within the window: again after they
	// were lost, or because none was idle.
	OpenedInWindow int64
	// Handshakes are how long the TLS handshakes of those connections took that
	// succeeded; nil: there was none, and a histogram is large.
	Handshakes *Histogram
	// ResumedHandshakes is how many of them resumed a TLS session.
	ResumedHandshakes int64
	// Reused is how many requests went over a connection which had carried one
	// before.
	Reused int64
	// Clients are the audit's ledgers, when the plan names a client header: of a step
	// that has ended; nil before.
	Clients *Clients
	// FirstStart and LastStart are when the first and the last of the merged
	// workers began, on the operator's clock.
	FirstStart, LastStart time.Time
	// Window is the time over which rates are counted: the step's duration, or
	// the time to the last response of a burst; the longest of the merged.
	Window time.Duration
	// ClockError bounds how wrong a worker's idea of the operator's clock is; the
	// largest of the merged.
	ClockError time.Duration
	// Health is how much of the machine the generator used and waited for.
	Health Health
	// UserTime is how much time the users had together in the window, Waited how much of it
	// went into requests that failed or had no answer (but for excused ones, and undecided
	// ones of a step that was cut) and into the pauses that a refusal forces, and HeldUp for how much of it the generator, not the
	// target or a think time, kept users without a rate from sending. All
	// are 0 of arrivals, HeldUp also of users with a rate. None is more than 292 years, for
	// which 100,000 users take a day.
	UserTime, Waited, HeldUp time.Duration
	// BurstSpread is, of a burst, within which time from its instant, which is the same for all
	// workers, the first requests of all users were sent; the largest of the merged.
	BurstSpread time.Duration
	// Timeline is what was outstanding and what was answered in the course of the window: of
	// a step that has ended; nil before, and of workers of which one did not report it.
	Timeline *Timeline
	// Transport names the client that was used, and Engine how requests were
	// driven: "event loops", "goroutines", … Of workers that differ, the names are
	// joined by " and ", each of them once.
	Transport, Engine string
}

// Health is what a worker, or all of them together, used and waited for in a step.
type Health struct {
	// CPUThrottled is how long the control group held the workers back, and CPU
	// the processor time they used; both added up.
	CPUThrottled, CPU time.Duration
	// CPUThrottledMax is how long it held back the worker that it held back most:
	// among many others, one does not show in the sum.
	CPUThrottledMax time.Duration
	// RunQueueWait is how long threads of the workers could have run and waited for a
	// processor, of all threads added up, and RunQueueWaitMax that of the worker whose
	// threads waited longest.
	RunQueueWait, RunQueueWaitMax time.Duration
	// Stalled is how long workers did not run at all, added up, and StalledMax that of
	// the worker that stood still longest.
	Stalled, StalledMax time.Duration
	// GCPauseMax is the longest pause of a garbage collector.
	GCPauseMax time.Duration
	// DescriptorsExhausted and PortsExhausted count attempts to connect that
	// failed for want of a descriptor or a local port.
	DescriptorsExhausted, PortsExhausted int64
}

// merge adds o, of another worker.
func (h *Health) merge(o Health) {
	h.CPUThrottled += o.CPUThrottled
	h.CPU += o.CPU
	h.CPUThrottledMax = max(h.CPUThrottledMax, o.CPUThrottledMax)
	h.RunQueueWait += o.RunQueueWait
	h.RunQueueWaitMax = max(h.RunQueueWaitMax, o.RunQueueWaitMax)
	h.Stalled += o.Stalled
	h.StalledMax = max(h.StalledMax, o.StalledMax)
	h.GCPauseMax = max(h.GCPauseMax, o.GCPauseMax)
	h.DescriptorsExhausted += o.DescriptorsExhausted
	h.PortsExhausted += o.PortsExhausted
}

// Request is what was measured of one request of the plan.
type Request struct {
	// Sent is how many were sent.
	Sent int64
	// Expected is how many got an expected response: Successes, and Denied.
	Expected int64
	// Late is how many were sent more than LateAfter after they were due.
	Late int64
	// CompletedInWindow is how many whole responses came before the window
	// closed, and ExpectedInWindow how many of those were successes.
	CompletedInWindow, ExpectedInWindow int64
	// Outcomes divides Sent. What is in flight counts as Unfinished.
	Outcomes [NumOutcomes]int64
	// StatusCodes divides Completed. A worker that does not count them has none.
	StatusCodes StatusCodes
	// Response is measured from the due time, Service from the send time; both
	// hold every outcome but Unfinished.
	Response, Service *Histogram
	// Ideal are the response times of the same requests as a perfect generator would have
	// measured them: one that sends at once what it is free to send, and reads at once what
	// has come. nil: as Response.
	Ideal *Histogram
	// Displaced is how many were sent so much later than a perfect generator would have sent
	// them that the load was another one: see Displacement.
	Displaced int64
	// Undecided is how many of Unfinished had waited for less than the timeout when the step
	// ended. What they would have become is not known.
	Undecided int64
	// Excused is how many ended as Timeout while their worker did not run for a notable part
	// of the timeout: whether the target answered in time is not known.
	Excused int64
	// Punctuality is how many were due, and on time.
	Punctuality
	// Failed are the times of the requests that were no success.
	Failed FailedTimes
	// Streams are the events of its responses; nil: they do not come in parts.
	Streams *Streams
	// Errors has one message for each failing outcome that occurred. A measurement of a step
	// that still runs has none.
	Errors map[Outcome]string
	// Redirects is how many redirects were followed: each is one more request to the target, beside
	// those that were Sent.
	Redirects int64
	// Sampled is how many asked the target to record their trace, and Traces are some of
	// those that ended.
	Sampled int64
	Traces  Traces
}

// NewMeasurement returns an empty measurement for a plan of that many requests.
func NewMeasurement(requests int) *Measurement {
	s := &Measurement{Requests: make([]Request, requests), Lateness: NewHistogram(), ReadLateness: NewHistogram()}
	for i := range s.Requests {
		s.Requests[i] = NewRequest()
	}
	return s
}

// NewRequest returns an empty request.
func NewRequest() Request {
	return Request{Response: NewHistogram(), Service: NewHistogram()}
}

// Completed is how many got a whole response, of any status.
func (r *Request) Completed() int64 {
	var n int64
	for o := Success; o.Responded(); o++ {
		n += r.Outcomes[o]
	}
	return n
}

// Denied is how many were denied as expected, with 429 or RESOURCE_EXHAUSTED: they are
// neither failures nor successes.
func (r *Request) Denied() int64 {
	return max(0, min(r.Outcomes[RateLimited], r.Expected-r.Outcomes[Success]))
}

// Successes is how many got an expected response that is no denial.
func (r *Request) Successes() int64 { return r.Expected - r.Denied() }

// CountStatus adds n whole responses of a status code.
func (r *Request) CountStatus(code int, n int64) {
	if r.StatusCodes == nil {
		r.StatusCodes = StatusCodes{}
	}
	r.StatusCodes[code] += n
}

// Reset empties the request, keeping its memory.
func (r *Request) Reset() {
	response, service, ideal, codes, punctuality := r.Response, r.Service, r.Ideal, r.StatusCodes, r.Punctuality
	response.Reset()
	service.Reset()
	if ideal != nil {
		ideal.Reset()
	}
	clear(codes)
	clear(punctuality.OnTime)
	clear(punctuality.IdealOnTime)
	*r = Request{
		Response: response, Service: service, Ideal: ideal, StatusCodes: codes,
		Punctuality: Punctuality{OnTime: punctuality.OnTime, IdealOnTime: punctuality.IdealOnTime},
	}
}

// Merge adds o to r.
func (r *Request) Merge(o *Request) error {
	r.Sent += o.Sent
	r.Expected += o.Expected
	r.Late += o.Late
	r.CompletedInWindow += o.CompletedInWindow
	r.ExpectedInWindow += o.ExpectedInWindow
	r.Displaced += o.Displaced
	r.Undecided += o.Undecided
	r.Excused += o.Excused
	r.Sampled += o.Sampled
	r.Redirects += o.Redirects
	r.Traces.Merge(o.Traces)
	r.mergeErrors(o)
	for i := range r.Outcomes {
		r.Outcomes[i] += o.Outcomes[i]
	}
	for code, n := range o.StatusCodes {
		r.CountStatus(code, n)
	}
	r.addPunctuality(o.Punctuality)
	// The ideal times come first: without any, they are the response times before the merge.
	return errors.Join(
		mergeStreams(&r.Streams, o.Streams),
		mergeIdeal(&r.Ideal, r.Response, o.Ideal, o.Response),
		r.Response.Merge(o.Response), r.Service.Merge(o.Service), r.Failed.Merge(&o.Failed))
}

// Merge adds o, of another worker, to s.
func (s *Measurement) Merge(o *Measurement) error {
	if len(s.Requests) != len(o.Requests) {
		return fmt.Errorf("merge measurements: %d requests into %d", len(o.Requests), len(s.Requests))
	}
	s.mergeTimeline(o)
	s.mergeReplay(o)
	for i := range s.Requests {
		if err := s.Requests[i].Merge(&o.Requests[i]); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	if err := errors.Join(s.mergeGrouped(o), s.mergeJourneys(o)); err != nil {
		return err
	}
	s.Due += o.Due
	s.Unsent += o.Unsent
	s.UnsentWithoutRoom += o.UnsentWithoutRoom
	s.UnsentByGenerator += o.UnsentByGenerator
	s.Sessions.Due += o.Sessions.Due
	s.Sessions.Started += o.Sessions.Started
	s.ConnectionsOpened += o.ConnectionsOpened
	s.OpenedInWindow += o.OpenedInWindow
	s.ResumedHandshakes += o.ResumedHandshakes
	s.Reused += o.Reused
	s.Health.merge(o.Health)
	s.UserTime = addTime(s.UserTime, o.UserTime)
	s.Waited = addTime(s.Waited, o.Waited)
	s.HeldUp = addTime(s.HeldUp, o.HeldUp)
	s.BurstSpread = max(s.BurstSpread, o.BurstSpread)
	s.Transport = mergeNames(s.Transport, o.Transport)
	s.Engine = mergeNames(s.Engine, o.Engine)
	s.mergeTimes(o)
	s.mergeClients(o)
	return errors.Join(s.Lateness.Merge(o.Lateness), s.ReadLateness.Merge(o.ReadLateness), s.mergeHandshakes(o))
}

// addTime adds two times, neither of which is negative, up to the longest that there is.
func addTime(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func (s *Measurement) mergeHandshakes(o *Measurement) error {
	if o.Handshakes == nil {
		return nil
	}
	if s.Handshakes == nil {
		s.Handshakes = NewHistogram()
	}
	return s.Handshakes.Merge(o.Handshakes)
}

const (
	// nameSeparator stands between the names of several transports or engines.
	nameSeparator = " and "
	// maxNames bounds how many of them are kept.
	maxNames = 4
)

// mergeNames has each name of a and b once, in alphabetical order.
func mergeNames(a, b string) string {
	switch {
	case b == "", a == b:
		return a
	case a == "":
		return b
	}
	names := append(strings.Split(a, nameSeparator), strings.Split(b, nameSeparator)...)
	slices.Sort(names)
	names = slices.Compact(names)
	return strings.Join(names[:min(len(names), maxNames)], nameSeparator)
}

func (s *Measurement) mergeTimes(o *Measurement) {
	if !o.FirstStart.IsZero() && (s.FirstStart.IsZero() || o.FirstStart.Before(s.FirstStart)) {
		s.FirstStart = o.FirstStart
	}
	if o.LastStart.After(s.LastStart) {
		s.LastStart = o.LastStart
	}
	s.Window = max(s.Window, o.Window)
	s.ClockError = max(s.ClockError, o.ClockError)
}

// mergeErrors keeps the alphabetically first message of each class, so that
// the order of merging does not matter.
func (r *Request) mergeErrors(o *Request) {
	for class, text := range o.Errors {
		if r.Errors == nil {
			r.Errors = map[Outcome]string{}
		}
		if old, ok := r.Errors[class]; ok {
			text = min(text, old)
		}
		r.Errors[class] = text
	}
}

func (s *Measurement) mergeClients(o *Measurement) {
	if o.Clients == nil {
		return
	}
	if s.Clients == nil {
		s.Clients = NewClients(MaxLedgerBytes)
	}
	s.Clients.Merge(o.Clients)
}

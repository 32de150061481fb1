package measure

import (
	"errors"
	"fmt"
	"time"
)

// LateAfter is how long after its due time a request counts as late.
const LateAfter = 10 * time.Millisecond

// MaxErrorBytes is how much of an error's text is kept: enough for a dial error
// with two addresses, short enough for a status.
const MaxErrorBytes = 256

// Step is what one worker, or all of them merged, measured in a step so far.
type Step struct {
	// Requests has one entry for each request of the plan, in its order.
	Requests []Request
	// Due is how many requests the schedule asked for so far.
	Due int64
	// Unsent is how many due requests were not sent; the unsent of a step that
	// still runs may yet be sent.
	Unsent int64
	// Lateness is how late the generator sent requests that it was free to send:
	// its own error, not the target's.
	Lateness *Histogram
	// ConnectionsOpened is how many connections were opened.
	ConnectionsOpened int64
	// Reused is how many requests went over a connection which had carried one
	// before.
	Reused int64
	// Clients are the audit ledgers by client, when the plan names a client header.
	Clients map[string]*Ledger
	// Untracked is how many requests had no ledger because there were too many clients.
	Untracked int64
	// FirstStart and LastStart are when the first and the last of the merged
	// workers began, on the operator's clock.
	FirstStart, LastStart time.Time
	// Window is the time over which rates are counted: the step's duration, or
	// the time to the last response of a burst; the longest of the merged.
	Window time.Duration
	// ClockError bounds how wrong a worker's idea of the operator's clock is; the
	// largest of the merged.
	ClockError time.Duration
	// Errors has one message for each failing outcome that occurred.
	Errors map[Outcome]string
	// Health is how the generator fared.
	Health Health
	// Transport names the client that was used; the alphabetically first of the
	// merged, which all workers of a run share.
	Transport string
	// Engine names how requests were driven: "event loops", "goroutines", …;
	// merged as Transport is. A run may have workers of both.
	Engine string
}

// Health is how a worker, or all of them together, fared in a step.
type Health struct {
	// CPUThrottled is how long the control group held the workers back, and CPU
	// the processor time they used; both added up.
	CPUThrottled, CPU time.Duration
	// CPUThrottledMax is how long it held back the worker that fared worst: among
	// many others, one does not show in the sum.
	CPUThrottledMax time.Duration
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
	h.GCPauseMax = max(h.GCPauseMax, o.GCPauseMax)
	h.DescriptorsExhausted += o.DescriptorsExhausted
	h.PortsExhausted += o.PortsExhausted
}

// Request is what was measured of one request of the plan.
type Request struct {
	// Sent is how many were sent.
	Sent int64
	// Expected is how many got an expected response, 429 included if expected.
	Expected int64
	// Late is how many were sent more than LateAfter after they were due.
	Late int64
	// CompletedInWindow is how many whole responses came before the window
	// closed, and ExpectedInWindow how many of those were expected.
	CompletedInWindow, ExpectedInWindow int64
	// Outcomes divides Sent. What is in flight counts as Unfinished.
	Outcomes [NumOutcomes]int64
	// StatusCodes divides Completed. A worker that does not know of them has none.
	StatusCodes StatusCodes
	// Response is measured from the due time, Service from the send time; both
	// hold every outcome but Unfinished.
	Response, Service *Histogram
}

// NewStep returns an empty step for a plan of that many requests.
func NewStep(requests int) *Step {
	s := &Step{Requests: make([]Request, requests), Lateness: NewHistogram()}
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

// CountStatus adds n whole responses of a status code.
func (r *Request) CountStatus(code int, n int64) {
	if r.StatusCodes == nil {
		r.StatusCodes = StatusCodes{}
	}
	r.StatusCodes[code] += n
}

// Reset empties the request, keeping its memory.
func (r *Request) Reset() {
	response, service, codes := r.Response, r.Service, r.StatusCodes
	response.Reset()
	service.Reset()
	clear(codes)
	*r = Request{Response: response, Service: service, StatusCodes: codes}
}

// Merge adds o to r.
func (r *Request) Merge(o *Request) error {
	r.Sent += o.Sent
	r.Expected += o.Expected
	r.Late += o.Late
	r.CompletedInWindow += o.CompletedInWindow
	r.ExpectedInWindow += o.ExpectedInWindow
	for i := range r.Outcomes {
		r.Outcomes[i] += o.Outcomes[i]
	}
	for code, n := range o.StatusCodes {
		r.CountStatus(code, n)
	}
	return errors.Join(r.Response.Merge(o.Response), r.Service.Merge(o.Service))
}

// Merge adds o, of another worker, to s.
func (s *Step) Merge(o *Step) error {
	if len(s.Requests) != len(o.Requests) {
		return fmt.Errorf("merge steps: %d requests into %d", len(o.Requests), len(s.Requests))
	}
	for i := range s.Requests {
		if err := s.Requests[i].Merge(&o.Requests[i]); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	s.Due += o.Due
	s.Unsent += o.Unsent
	s.ConnectionsOpened += o.ConnectionsOpened
	s.Reused += o.Reused
	s.Untracked += o.Untracked
	s.Health.merge(o.Health)
	s.Transport = mergeNames(s.Transport, o.Transport)
	s.Engine = mergeNames(s.Engine, o.Engine)
	s.mergeTimes(o)
	s.mergeErrors(o)
	s.mergeClients(o)
	return s.Lateness.Merge(o.Lateness)
}

// mergeNames is the alphabetically first of two names that are there.
func mergeNames(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

func (s *Step) mergeTimes(o *Step) {
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
func (s *Step) mergeErrors(o *Step) {
	for class, text := range o.Errors {
		if s.Errors == nil {
			s.Errors = map[Outcome]string{}
		}
		if old, ok := s.Errors[class]; !ok || text < old {
			s.Errors[class] = text
		}
	}
}

func (s *Step) mergeClients(o *Step) {
	for name, ledger := range o.Clients {
		if s.Clients == nil {
			s.Clients = map[string]*Ledger{}
		}
		if mine, ok := s.Clients[name]; ok {
			mine.Merge(ledger)
		} else {
			s.Clients[name] = ledger.Clone()
		}
	}
}

// Total is all requests merged into one.
func (s *Step) Total() (Request, error) {
	total := NewRequest()
	for i := range s.Requests {
		if err := total.Merge(&s.Requests[i]); err != nil {
			return total, err
		}
	}
	return total, nil
}

package measure

import (
	"errors"
	"time"
)

// FailedTimes are the response and service times of the requests that ended and were no
// success: they failed, or were denied as expected. They are nil while there are none: most
// targets answer as expected, and a histogram is large.
type FailedTimes struct {
	Response, Service *Histogram
	// Ideal are the response times of a perfect generator. nil: as Response.
	Ideal *Histogram
}

// Record counts one request.
func (f *FailedTimes) Record(response, service, ideal time.Duration) {
	f.allocate()
	if f.Ideal == nil {
		f.Ideal = NewHistogram()
	}
	f.Ideal.Record(ideal)
	f.Response.Record(response)
	f.Service.Record(service)
}

// Merge adds those of o.
func (f *FailedTimes) Merge(o *FailedTimes) error {
	if o.Response == nil && o.Service == nil {
		return nil
	}
	f.allocate()
	return errors.Join(mergeIdeal(&f.Ideal, f.Response, o.Ideal, o.Response), f.Response.Merge(o.Response), f.Service.Merge(o.Service))
}

func (f *FailedTimes) allocate() {
	if f.Response == nil {
		f.Response = NewHistogram()
	}
	if f.Service == nil {
		f.Service = NewHistogram()
	}
}

// ExpectedTimes are the response and service times of the successes: of all requests less
// the times of the others. An expected denial is not a success: it is often faster than a
// grant. ok is false if a worker did not report which are which.
func (r *Request) ExpectedTimes() (response, service *Histogram, ok bool) {
	response, ok = r.Response.without(r.Failed.Response)
	service, also := r.Service.without(r.Failed.Service)
	return response, service, ok && also && response.Count() == r.Successes()
}

// ExpectedIdeally are the ideal response times of the successes; ok is false if a worker did
// not report which they are.
func (r *Request) ExpectedIdeally() (*Histogram, bool) {
	ideal, ok := r.Ideally().without(r.Failed.Ideally())
	return ideal, ok && ideal.Count() == r.Successes()
}

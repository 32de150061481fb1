package measure

import (
	"errors"
	"time"
)

// FailedTimes are the response and service times of the requests that got no expected
// response. They are nil while there are none: most targets answer as expected, and a
// histogram is large.
type FailedTimes struct {
	Response, Service *Histogram
}

// Record counts one request.
func (f *FailedTimes) Record(response, service time.Duration) {
	f.allocate()
	f.Response.Record(response)
	f.Service.Record(service)
}

// Merge adds those of o.
func (f *FailedTimes) Merge(o *FailedTimes) error {
	if o.Response == nil && o.Service == nil {
		return nil
	}
	f.allocate()
	return errors.Join(f.Response.Merge(o.Response), f.Service.Merge(o.Service))
}

func (f *FailedTimes) allocate() {
	if f.Response == nil {
		f.Response = NewHistogram()
	}
	if f.Service == nil {
		f.Service = NewHistogram()
	}
}

// ExpectedTimes are the response and service times of the requests with an expected
// response: of all less those of the others. ok is false if a worker did not report
// which are which.
func (r *Request) ExpectedTimes() (response, service *Histogram, ok bool) {
	response, ok = r.Response.without(r.Failed.Response)
	service, also := r.Service.without(r.Failed.Service)
	return response, service, ok && also && response.Count() == r.Expected
}

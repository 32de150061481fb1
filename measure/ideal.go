package measure

import (
	"errors"
	"time"
)

// Ideally are the response times that a perfect generator would have measured.
func (r *Request) Ideally() *Histogram { return orElse(r.Ideal, r.Response) }

// Ideally are the response times that a perfect generator would have measured.
func (f *FailedTimes) Ideally() *Histogram { return orElse(f.Ideal, f.Response) }

// Ideally are the times of a perfect generator.
func (j *Journey) Ideally() *Histogram { return orElse(j.Ideal, j.Time) }

// DropIdeal drops what a perfect generator would have measured: the measured times stand
// for it.
func (s *Measurement) DropIdeal() {
	for i := range s.Requests {
		r := &s.Requests[i]
		r.Ideal, r.Failed.Ideal, r.IdealOnTime = nil, nil, nil
		if r.Streams != nil {
			r.Streams.Ideal = [NumStreamTimes]*Histogram{}
		}
	}
	for i := range s.Journeys {
		s.Journeys[i].Ideal = nil
	}
}

func orElse(ideal, measured *Histogram) *Histogram {
	if ideal == nil {
		return measured
	}
	return ideal
}

// mergeIdeal adds ideal times to a sum. Where one side has none, its measured times stand
// for them; measured is that of the sum before it is merged.
func mergeIdeal(sum **Histogram, measured, ideal, alsoMeasured *Histogram) error {
	if *sum == nil && ideal == nil {
		return nil
	}
	var err error
	if *sum == nil {
		*sum = NewHistogram()
		err = (*sum).Merge(measured)
	}
	return errors.Join(err, (*sum).Merge(orElse(ideal, alsoMeasured)))
}

// Displacement is how much later than a perfect generator would have sent it a request of a
// step with that window may be sent: beyond it, it is displaced.
func Displacement(window time.Duration) time.Duration {
	return max(100*time.Millisecond, window/100)
}

package results_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Each way in which a request may end is acknowledged, leaves open whether it was carried out, or is
// neither. Of calls that failed by their own fault, those that were cancelled may have been carried out.
// Where the last response of a chain of redirects says no, or there is none, an earlier request of the
// chain was answered by a redirect, and may have been carried out.
func TestOutcomesOfStoredItems(t *testing.T) {
	count := func(o measure.Outcome, n, redirects int64, codes measure.StatusCodes) (int64, int64) {
		m := measure.NewMeasurement(1)
		m.Requests[0].Outcomes[o], m.Requests[0].Redirects, m.Requests[0].StatusCodes = n, redirects, codes
		a := v1beta1.AuditStatus{Unknown: new(int64)}
		results.CountStored(&a, []int64{10}, m, 0)
		return a.Acknowledged, *a.Unknown
	}
	open := map[measure.Outcome]bool{
		measure.ServerError: true, measure.UnexpectedStatus: true, measure.Timeout: true, measure.Reset: true,
		measure.TLS: true, measure.BadResponse: true, measure.Unfinished: true, measure.Other: true, measure.BrokenOff: true, measure.Stalled: true, measure.EndedEarly: true,
	}
	for o := range measure.Outcome(measure.NumOutcomes) {
		if acknowledged, unknown := count(o, 3, 0, nil); (acknowledged == 30) != (o == measure.Success) || (unknown == 30) != open[o] || acknowledged+unknown > 30 {
			t.Errorf("3 of outcome %v, of 10 items each: %d acknowledged, %d unknown", o, acknowledged, unknown)
		}
	}
	for name, tt := range map[string]struct {
		outcome               measure.Outcome
		redirects             int64
		codes                 measure.StatusCodes
		acknowledged, unknown int64
	}{
		"calls that were cancelled": {measure.ClientError, 0, measure.StatusCodes{measure.GRPCCancelled: 3, measure.GRPCNotFound: 4}, 0, 30},
		// A status that is expected says no more than one that is not.
		"refusals that are expected":            {measure.Success, 0, measure.StatusCodes{201: 3, 409: 4}, 30, 0},
		"refusals of calls that are expected":   {measure.Success, 0, measure.StatusCodes{measure.GRPCOK: 5, measure.GRPCNotFound: 1, measure.GRPCCancelled: 1}, 50, 10},
		"failures that are expected":            {measure.Success, 0, measure.StatusCodes{302: 5, 503: 2}, 50, 20},
		"deadlines of calls that are expected":  {measure.Success, 0, measure.StatusCodes{measure.GRPCOK: 6, measure.GRPCDeadlineExceeded: 1}, 60, 10},
		"expected refusals after two redirects": {measure.Success, 2, measure.StatusCodes{201: 3, 409: 4}, 30, 20},
	} {
		if acknowledged, unknown := count(tt.outcome, 7, tt.redirects, tt.codes); acknowledged != tt.acknowledged || unknown != tt.unknown {
			t.Errorf("%s: %d acknowledged, %d unknown; want %d, %d", name, acknowledged, unknown, tt.acknowledged, tt.unknown)
		}
	}
	for _, o := range []measure.Outcome{measure.ClientError, measure.RateLimited, measure.Refused, measure.DNS} {
		if _, unknown := count(o, 5, 3, nil); unknown != 30 {
			t.Errorf("5 of outcome %v, of which 3 followed a redirect: %d unknown, want 30", o, unknown)
		}
	}
}

func TestCountStored(t *testing.T) {
	m := measure.NewMeasurement(3)
	m.Requests[0].Outcomes[measure.Success], m.Requests[0].Outcomes[measure.Timeout] = 5, 1
	m.Requests[1].Outcomes[measure.Success], m.Requests[1].Outcomes[measure.Timeout] = 7, 2 // not audited
	m.Requests[2].Outcomes[measure.Success], m.Requests[2].Outcomes[measure.Reset] = 2, 1
	items := []int64{1, 0, 10, 7} // the last of which no worker measured
	for name, tt := range map[string]struct {
		merged                *measure.Measurement
		missing               int64
		acknowledged, unknown int64
		unbounded             bool
	}{
		"all reported":    {merged: m, acknowledged: 25, unknown: 11},
		"four missing":    {merged: m, missing: 4, acknowledged: 25, unknown: 51},
		"nothing came":    {missing: 4, unknown: 40},
		"no bound":        {merged: m, missing: -1, acknowledged: 25, unbounded: true},
		"nothing is lost": {},
	} {
		t.Run(name, func(t *testing.T) {
			a := v1beta1.AuditStatus{Acknowledged: 100, Unknown: new(int64)}
			*a.Unknown = 1
			results.CountStored(&a, items, tt.merged, tt.missing)
			if a.Acknowledged != 100+tt.acknowledged || (a.Unknown == nil) != tt.unbounded {
				t.Fatalf("%d acknowledged, unknown %v; want %d more, without a bound: %t", a.Acknowledged, a.Unknown, tt.acknowledged, tt.unbounded)
			}
			if !tt.unbounded && *a.Unknown != 1+tt.unknown {
				t.Errorf("%d unknown, want %d more", *a.Unknown, tt.unknown)
			}
			results.CountStored(&a, items, m, 0)
			if tt.unbounded && a.Unknown != nil {
				t.Error("a later step brought the bound back")
			}
		})
	}
}

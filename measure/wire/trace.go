package wire

import (
	"errors"
	"fmt"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func fromTraces(list measure.Traces) *workerv1.Traces {
	if len(list) == 0 {
		return nil
	}
	m := &workerv1.Traces{}
	for _, t := range list {
		m.Ids = append(m.Ids, t.ID[:]...)
		m.Outcomes = append(m.Outcomes, int32(t.Outcome))
		m.Expected = append(m.Expected, t.Expected)
		m.StatusCodes = append(m.StatusCodes, int32(t.Status))
		m.ResponseNanos = append(m.ResponseNanos, int64(t.Response))
		m.ServiceNanos = append(m.ServiceNanos, int64(t.Service))
	}
	return m
}

// toTraces reads the traces of a request whose outcomes were read. A worker that does not
// report them has none.
func toTraces(to *measure.Request, m *workerv1.RequestMeasurement) error {
	to.Sampled = m.GetSampled()
	if err := within("sampled", to.Sampled, "sent", to.Sent); err != nil {
		return err
	}
	list := m.GetTraces()
	const size = len(measure.TraceID{})
	n := len(list.GetIds()) / size
	for _, length := range []int{len(list.GetOutcomes()), len(list.GetExpected()), len(list.GetStatusCodes()), len(list.GetResponseNanos()), len(list.GetServiceNanos())} {
		if length != n || len(list.GetIds()) != n*size {
			return fmt.Errorf("traces: lists of %d bytes of ids and %d of another, there are %d bytes for each", len(list.GetIds()), length, size)
		}
	}
	if err := within("traces", int64(n), "what is kept of them", min(to.Sampled, int64(measure.MaxTraces))); err != nil {
		return err
	}
	var counts [measure.NumOutcomes]int64
	var last measure.TraceID
	for i := range n {
		t, err := toTrace(list, i)
		if err == nil && t.ID.Compare(last) <= 0 {
			err = errors.New("its id is not above the last")
		}
		if err != nil {
			return fmt.Errorf("traces[%d]: %w", i, err)
		}
		last = t.ID
		counts[t.Outcome]++
		to.Traces.Add(t)
	}
	for o, n := range counts {
		if n > to.Outcomes[o] {
			return within(fmt.Sprintf("traces of outcome %v", measure.Outcome(o)), n, "outcomes", to.Outcomes[o])
		}
	}
	return nil
}

func toTrace(list *workerv1.Traces, i int) (t measure.Trace, err error) {
	o := list.GetOutcomes()[i]
	if o < 0 || o >= int32(measure.NumOutcomes) {
		return t, fmt.Errorf("outcome %d does not exist", o)
	}
	t = measure.Trace{
		Outcome: measure.Outcome(o), Expected: list.GetExpected()[i], Status: int(list.GetStatusCodes()[i]),
		Response: time.Duration(list.GetResponseNanos()[i]), Service: time.Duration(list.GetServiceNanos()[i]),
	}
	copy(t.ID[:], list.GetIds()[i*len(t.ID):])
	switch {
	case !measure.IsStatus(t.Status):
		return t, fmt.Errorf("status code %d of a request that is %v", t.Status, t.Outcome)
	case t.Outcome == measure.Success && !t.Expected, t.Expected && t.Outcome != measure.Success && t.Outcome != measure.RateLimited:
		return t, fmt.Errorf("expected is %v of a request that is %v", t.Expected, t.Outcome)
	}
	return t, errors.Join(
		span("response_nanos", int64(t.Response)),
		within("service_nanos", int64(t.Service), "response_nanos", int64(t.Response)),
	)
}

package wire

import (
	"errors"
	"fmt"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// maxTimes bounds how many times there are within which requests are on time: a plan
// has one for each threshold.
const maxTimes = 32

func toPunctuality(to *measure.Request, m *workerv1.RequestMeasurement) error {
	if len(m.GetOnTime()) > maxTimes || len(m.GetOverdue()) != len(m.GetOnTime()) {
		return fmt.Errorf("on_time: %d times and %d of overdue, at most %d", len(m.GetOnTime()), len(m.GetOverdue()), maxTimes)
	}
	to.Punctuality = measure.Punctuality{Due: m.GetDue(), OnTime: m.GetOnTime(), IdealOnTime: m.GetIdealOnTime(), Overdue: m.GetOverdue()}
	if err := count("due", to.Due); err != nil {
		return err
	}
	if err := checkIdealOnTime(to); err != nil {
		return err
	}
	least := int64(0)
	for i, n := range to.OnTime {
		if err := errors.Join(
			within("on_time", n, "successes", to.Successes()),
			atLeast("on_time", n, least), // a longer time has as many, or more
			within("overdue", to.Overdue[i], "due", to.Due),
		); err != nil {
			return err
		}
		least = n
	}
	return nil
}

// checkIdealOnTime says whether a perfect generator would have had no fewer requests on time:
// it delays none.
func checkIdealOnTime(r *measure.Request) error {
	if n := len(r.IdealOnTime); n != 0 && n != len(r.OnTime) {
		return fmt.Errorf("ideal_on_time: %d times, on_time has %d", n, len(r.OnTime))
	}
	least := int64(0)
	for i, n := range r.IdealOnTime {
		if err := errors.Join(
			within("ideal_on_time", n, "successes", r.Successes()),
			atLeast("ideal_on_time", n, max(least, r.OnTime[i])),
		); err != nil {
			return err
		}
		least = n
	}
	return nil
}

// checkDue says whether what was due of each request adds up to what was due of the
// step. A worker that does not report it has nothing due of any.
func checkDue(requests []measure.Request, due int64) error {
	var sum int64
	for i := range requests {
		r := &requests[i]
		if r.Due > 0 && r.Due < r.Sent {
			return within(fmt.Sprintf("requests[%d].sent", i), r.Sent, "due", r.Due)
		}
		sum += r.Due // at most 32 of 2^48
	}
	if sum != 0 && sum != due {
		return fmt.Errorf("due: %d, and %d of the requests", due, sum)
	}
	return nil
}

package wire

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// maxCount bounds every count, so that the sums of 1000 workers cannot
	// overflow: it is a million requests a second for eight years.
	maxCount = 1 << 48
	// maxSpan bounds every duration, far above any step.
	maxSpan = 366 * 24 * time.Hour
	// maxUsers is how many users a step has at most, as the API says.
	maxUsers = 1_000_000
)

func (r *Reading) readTotals(m *workerv1.StepMeasurement) error {
	r.rest = measure.Measurement{
		Due:               m.GetDue(),
		Unsent:            m.GetUnsent(),
		UnsentWithoutRoom: m.GetUnsentWithoutRoom(),
		ConnectionsOpened: m.GetConnectionsOpened(),
		OpenedInWindow:    m.GetOpenedInWindow(),
		ResumedHandshakes: m.GetResumedHandshakes(),
		Reused:            m.GetReused(),
		FirstStart:        toTime(m.GetStartUnixNanos()),
		LastStart:         toTime(m.GetStartUnixNanos()),
		Window:            time.Duration(m.GetWindowNanos()),
		ClockError:        time.Duration(m.GetClockErrorNanos()),
		Health:            toHealth(m.GetHealth()),
		Transport:         text.Clean(m.GetTransport(), measure.MaxErrorBytes),
		Engine:            text.Clean(m.GetEngine(), measure.MaxErrorBytes),
		UnsentByGenerator: m.GetUnsentByGenerator(),
		Sessions:          measure.Sessions{Due: m.GetSessionsDue(), Started: m.GetSessionsStarted()},
		UserTime:          time.Duration(m.GetUserTimeNanos()),
		Waited:            time.Duration(m.GetWaitedNanos()),
		HeldUp:            time.Duration(m.GetHeldUpNanos()),
		BurstSpread:       time.Duration(m.GetBurstSpreadNanos()),
		Replay:            toReplay(m.GetReplay()),
	}
	return errors.Join(
		count("due", m.GetDue()),
		count("unsent", m.GetUnsent()),
		within("unsent_without_room", m.GetUnsentWithoutRoom(), "unsent", m.GetUnsent()),
		within("unsent_by_generator", m.GetUnsentByGenerator(), "unsent", m.GetUnsent()),
		count("sessions_due", m.GetSessionsDue()),
		within("sessions_started", m.GetSessionsStarted(), "sessions_due", m.GetSessionsDue()),
		within("sessions_due less sessions_started", m.GetSessionsDue()-m.GetSessionsStarted(), "unsent", m.GetUnsent()),
		atLeast("user_time_nanos", m.GetUserTimeNanos(), 0),
		within("user_time_nanos of 1000000 users", m.GetUserTimeNanos()/maxUsers, "window_nanos", m.GetWindowNanos()),
		within("waited_nanos", m.GetWaitedNanos(), "user_time_nanos", m.GetUserTimeNanos()),
		within("held_up_nanos", m.GetHeldUpNanos(), "user_time_nanos", m.GetUserTimeNanos()),
		span("burst_spread_nanos", m.GetBurstSpreadNanos()),
		count("connections_opened", m.GetConnectionsOpened()),
		within("opened_in_window", m.GetOpenedInWindow(), "connections_opened", m.GetConnectionsOpened()),
		count("reused", m.GetReused()),
		span("window_nanos", m.GetWindowNanos()),
		span("clock_error_nanos", m.GetClockErrorNanos()),
		atLeast("start_unix_nanos", m.GetStartUnixNanos(), 0),
		checkHealth(m.GetHealth()),
		checkReplay(m.GetReplay()),
	)
}

func toHealth(m *workerv1.GeneratorHealth) measure.Health {
	return measure.Health{
		CPUThrottled:         time.Duration(m.GetCpuThrottledNanos()),
		CPUThrottledMax:      time.Duration(m.GetCpuThrottledNanos()), // of the one worker
		RunQueueWait:         time.Duration(m.GetRunQueueWaitNanos()),
		RunQueueWaitMax:      time.Duration(m.GetRunQueueWaitNanos()),
		Stalled:              time.Duration(m.GetStalledNanos()),
		StalledMax:           time.Duration(m.GetStalledNanos()),
		CPU:                  time.Duration(m.GetCpuNanos()),
		GCPauseMax:           time.Duration(m.GetGcPauseMaxNanos()),
		DescriptorsExhausted: m.GetDescriptorsExhausted(),
		PortsExhausted:       m.GetPortsExhausted(),
	}
}

// checkHealth bounds processor times like the others: a year is a thousand
// cores for nine hours.
func checkHealth(m *workerv1.GeneratorHealth) error {
	return errors.Join(
		span("health.cpu_throttled_nanos", m.GetCpuThrottledNanos()),
		span("health.cpu_nanos", m.GetCpuNanos()),
		span("health.stalled_nanos", m.GetStalledNanos()),
		span("health.run_queue_wait_nanos", m.GetRunQueueWaitNanos()),
		span("health.gc_pause_max_nanos", m.GetGcPauseMaxNanos()),
		count("health.descriptors_exhausted", m.GetDescriptorsExhausted()),
		count("health.ports_exhausted", m.GetPortsExhausted()),
	)
}

func (r *Reading) readRequest(to *measure.Request, m *workerv1.RequestMeasurement) error {
	if err := count("sent", m.GetSent()); err != nil {
		return err
	}
	to.Sent = m.GetSent()
	to.Expected = m.GetExpected()
	to.Late = m.GetLate()
	to.CompletedInWindow = m.GetCompletedInWindow()
	to.ExpectedInWindow = m.GetExpectedInWindow()
	to.Displaced, to.Undecided, to.Excused = m.GetDisplaced(), m.GetUndecided(), m.GetExcused()
	if err := toOutcomes(to, m.GetOutcomes()); err != nil {
		return err
	}
	if err := toStatusCodes(to, m.GetStatusCodes()); err != nil {
		return err
	}
	if err := checkParts(to); err != nil {
		return err
	}
	var err error
	if to.Errors, err = toErrors(m.GetErrors()); err != nil {
		return err
	}
	to.Redirects = m.GetRedirects()
	if err := within("redirects", to.Redirects, "10 for each that was sent", 10*to.Sent); err != nil {
		return err
	}
	failed, first := to.Sent-to.Successes(), len(r.histograms)
	if err := errors.Join(
		toPunctuality(to, m),
		toTraces(to, m),
		r.readTimes("response", m.GetResponse(), to),
		r.readTimes("service", m.GetService(), to),
		r.readHistogram("failed_response", m.GetFailedResponse(), failed),
		r.readHistogram("failed_service", m.GetFailedService(), failed),
	); err != nil {
		return err
	}
	return errors.Join(
		r.readIdeal("ideal", m.GetIdeal(), first),
		r.readIdeal("failed_ideal", m.GetFailedIdeal(), first+2),
	)
}

// checkParts says whether no count of a request is more than what it is a part of.
func checkParts(r *measure.Request) error {
	return errors.Join(
		within("expected", r.Expected, "completed", r.Completed()),
		within("expected", r.Expected, "success and rateLimited", r.Outcomes[measure.Success]+r.Outcomes[measure.RateLimited]),
		within("late", r.Late, "sent", r.Sent),
		within("displaced", r.Displaced, "sent", r.Sent),
		within("undecided", r.Undecided, "unfinished", r.Outcomes[measure.Unfinished]),
		within("excused", r.Excused, "timeouts", r.Outcomes[measure.Timeout]),
		within("completed_in_window", r.CompletedInWindow, "completed", r.Completed()),
		within("expected_in_window", r.ExpectedInWindow, "successes", r.Successes()),
	)
}

func isPart(part, whole int64) bool { return 0 <= part && part <= whole }

// readTimes reads the times of all requests that ended: one that has no time, or a time too
// many, makes a quantile of something else than was sent.
func (r *Reading) readTimes(field string, m *workerv1.Histogram, of *measure.Request) error {
	if err := r.readHistogram(field, m, of.Sent); err != nil {
		return err
	}
	ended, times := of.Sent-of.Outcomes[measure.Unfinished], r.histograms[len(r.histograms)-1].total
	if times != ended {
		return fmt.Errorf("%s: %d times, and %d requests that ended", field, times, ended)
	}
	return nil
}

func toOutcomes(to *measure.Request, outcomes []int64) error {
	if len(outcomes) != measure.NumOutcomes {
		return fmt.Errorf("outcomes: %d classes, there are %d", len(outcomes), measure.NumOutcomes)
	}
	var sum int64
	for i, n := range outcomes {
		// Each is at most Sent, so that the sum of all cannot overflow. The name is
		// made for a fault only: there are thousands of outcomes a second.
		if n < 0 || n > to.Sent {
			return within(fmt.Sprintf("outcomes[%v]", measure.Outcome(i)), n, "sent", to.Sent)
		}
		sum += n
		to.Outcomes[i] = n
	}
	if sum != to.Sent {
		return fmt.Errorf("outcomes: their sum is %d, sent is %d", sum, to.Sent)
	}
	return nil
}

// toStatusCodes reads nothing of a worker that does not report them: it may be of
// an older image than the operator.
func toStatusCodes(to *measure.Request, codes map[int32]int64) error {
	if len(codes) == 0 {
		return nil
	}
	completed := to.Completed()
	for code, n := range codes {
		if !measure.IsStatus(int(code)) {
			return fmt.Errorf("status_codes: %d is not a status code", code)
		}
		// The API server refuses a status with a count of none. Each is at most what
		// completed, so that the sum of 917 cannot overflow.
		if n < 1 || n > completed {
			field := fmt.Sprintf("status_codes[%d]", code)
			return cmp.Or(atLeast(field, n, 1), within(field, n, "completed", completed))
		}
		to.CountStatus(int(code), n)
	}
	if sum := to.StatusCodes.Sum(); sum != completed {
		return fmt.Errorf("status_codes: their sum is %d, %d completed", sum, completed)
	}
	return nil
}

func toErrors(samples []*workerv1.ErrorSample) (map[measure.Outcome]string, error) {
	if len(samples) == 0 {
		return nil, nil
	}
	errs := make(map[measure.Outcome]string, measure.NumOutcomes)
	for i, e := range samples {
		o := e.GetOutcome()
		if o <= int32(measure.Success) || o >= int32(measure.NumOutcomes) {
			return nil, fmt.Errorf("errors[%d]: outcome %d is not a failure", i, o)
		}
		if _, ok := errs[measure.Outcome(o)]; ok {
			return nil, fmt.Errorf("errors[%d]: %v comes twice", i, measure.Outcome(o))
		}
		errs[measure.Outcome(o)] = text.Clean(e.GetMessage(), measure.MaxErrorBytes)
	}
	return errs, nil
}

// toTime is in UTC so that it does not depend on the operator's machine.
func toTime(unixNanos int64) time.Time {
	if unixNanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, unixNanos).UTC()
}

func count(field string, n int64) error {
	if n > maxCount {
		return fmt.Errorf("%s: %d is more than %d", field, n, int64(maxCount))
	}
	return atLeast(field, n, 0)
}

func span(field string, nanos int64) error {
	if nanos > int64(maxSpan) {
		return fmt.Errorf("%s: %v is more than %v", field, time.Duration(nanos), maxSpan)
	}
	return atLeast(field, nanos, 0)
}

func atLeast(field string, n, least int64) error {
	if n < least {
		return fmt.Errorf("%s: %d is less than %d", field, n, least)
	}
	return nil
}

func within(field string, n int64, limitField string, limit int64) error {
	if n > limit {
		return fmt.Errorf("%s: %d is more than %s, %d", field, n, limitField, limit)
	}
	return atLeast(field, n, 0)
}

package session

import "time"

const (
	// probes is how many times the clock is asked for at the beginning: the
	// shortest round trip of several is seldom one that met a delay.
	probes = 8
	// probeEvery is how often it is asked for after that.
	probeEvery = 5 * time.Second
	// drift is how much two clocks may part, per unit of time: crystals keep to
	// 50 ppm each.
	drift = 100e-6
	// samples is how many are kept.
	samples = 16
)

// clock translates between this process's monotonic clock and the coordinator's
// clock.
type clock struct {
	base    time.Time // with a monotonic reading
	samples []sample
}

// sample says that the coordinator's clock showed theirs at ours, give or take
// bound.
type sample struct {
	ours   time.Time
	theirs int64
	bound  time.Duration
}

func newClock(now time.Time) *clock { return &clock{base: now} }

// mark is an instant as it travels in a probe; unmark is the instant again, with
// its monotonic reading.
func (c *clock) mark(t time.Time) int64 { return c.base.UnixNano() + int64(t.Sub(c.base)) }

func (c *clock) unmark(nanos int64) time.Time {
	return c.base.Add(time.Duration(nanos - c.base.UnixNano()))
}

// add takes the answer to a probe. The coordinator read its clock somewhere in
// the round trip: most likely in the middle, at most half of it away.
func (c *clock) add(sent, received time.Time, theirs int64) {
	trip := received.Sub(sent)
	if trip < 0 {
		return // no answer to a probe of ours
	}
	if len(c.samples) == samples {
		c.samples = append(c.samples[:0], c.samples[1:]...)
	}
	c.samples = append(c.samples, sample{ours: sent.Add(trip / 2), theirs: theirs, bound: trip / 2})
}

// forget drops what is known, since another coordinator has another clock.
func (c *clock) forget() { c.samples = nil }

// known says whether there is any sample.
func (c *clock) known() bool { return len(c.samples) > 0 }

// best is the sample that says most about an instant, and its error then.
func (c *clock) best(at time.Time) (sample, time.Duration) {
	var best sample
	var least time.Duration
	for i, s := range c.samples {
		bound := s.bound + time.Duration(drift*float64(at.Sub(s.ours).Abs()))
		if i == 0 || bound < least {
			best, least = s, bound
		}
	}
	return best, least
}

// local is when the coordinator's clock shows theirs. now chooses the sample.
func (c *clock) local(theirs int64, now time.Time) time.Time {
	s, _ := c.best(now)
	return s.ours.Add(time.Duration(theirs - s.theirs))
}

// remote is what the coordinator's clock shows at an instant.
func (c *clock) remote(at time.Time) time.Time {
	s, _ := c.best(at)
	return time.Unix(0, s.theirs+int64(at.Sub(s.ours)))
}

// bound is how wrong that may be.
func (c *clock) bound(at time.Time) time.Duration {
	_, bound := c.best(at)
	return bound
}

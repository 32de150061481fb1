package session

import "time"

const (
	// firstProbes is how many probes are sent when a stream begins, one after
	// another: the shortest of several round trips is seldom one that was delayed.
	firstProbes = 8
	// probeEvery is the time between probes after that.
	probeEvery = 5 * time.Second
	// drift is how much two clocks may part, per unit of time: crystals keep to
	// 50 ppm each.
	drift = 100e-6
	// maxSamples is how many samples are kept.
	maxSamples = 16
)

// clock translates between this process's monotonic clock and the coordinator's
// clock.
type clock struct {
	base    time.Time // with a monotonic reading
	samples []sample
}

// sample says that the coordinator's clock showed remote at the instant local, with
// an error of at most bound.
type sample struct {
	local  time.Time
	remote int64
	bound  time.Duration
}

func newClock(now time.Time) *clock { return &clock{base: now} }

// encode is an instant as a probe carries it; decode is the instant again, with its
// monotonic reading.
func (c *clock) encode(t time.Time) int64 { return c.base.UnixNano() + int64(t.Sub(c.base)) }

func (c *clock) decode(nanos int64) time.Time {
	return c.base.Add(time.Duration(nanos - c.base.UnixNano()))
}

// add adds the answer to a probe. The coordinator read its clock within the round
// trip: most likely in the middle, at most half of it away.
func (c *clock) add(sent, received time.Time, remote int64) {
	trip := received.Sub(sent)
	if trip < 0 {
		return // not an answer to a probe of this worker
	}
	if len(c.samples) == maxSamples {
		c.samples = append(c.samples[:0], c.samples[1:]...)
	}
	c.samples = append(c.samples, sample{local: sent.Add(trip / 2), remote: remote, bound: trip / 2})
}

// reset drops all samples, since another coordinator has another clock.
func (c *clock) reset() { c.samples = nil }

// best is the sample with the least error at an instant, and that error.
func (c *clock) best(at time.Time) (sample, time.Duration) {
	var best sample
	var least time.Duration
	for i, s := range c.samples {
		bound := s.bound + time.Duration(drift*float64(at.Sub(s.local).Abs()))
		if i == 0 || bound < least {
			best, least = s, bound
		}
	}
	return best, least
}

// local is the instant at which the coordinator's clock shows remote, by the best
// sample of now.
func (c *clock) local(remote int64, now time.Time) time.Time {
	s, _ := c.best(now)
	return s.local.Add(time.Duration(remote - s.remote))
}

// remote is what the coordinator's clock shows at an instant.
func (c *clock) remote(at time.Time) time.Time {
	s, _ := c.best(at)
	return time.Unix(0, s.remote+int64(at.Sub(s.local)))
}

// bound is the greatest error of that.
func (c *clock) bound(at time.Time) time.Duration {
	_, bound := c.best(at)
	return bound
}

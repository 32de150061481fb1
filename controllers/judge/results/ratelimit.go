package results

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// The audit compares what clients were told with the token bucket that was
// promised: a bucket of capacity C that refills by r tokens a second, and from
// which each grant takes one token.
//
// When the limiter decided is not known, only that it did so between the send
// and the receipt of a request. So each metric is a lower bound over all the
// moments at which the decisions may have been made: a limiter that keeps its
// contract is never accused, whatever the network, the clocks and the schedule
// were. What the audit then finds is certain.

// token is the unit of the arithmetic: tokens are counted in millionths, since
// refill rates have six digits behind the point.
const token int64 = 1_000_000

// driftParts is how far the limiter's clock may run fast or slow against ours:
// by 1/1000. The kernel slews a clock by at most 500 ppm, and there are two.
const driftParts = 1000

// contract is what was promised, and how exact the times are.
type contract struct {
	capacity int64 // tokens, in millionths
	refill   int64 // tokens per second, in millionths
	// clockError bounds how wrong a worker's times are on the operator's clock.
	clockError time.Duration
	// silence is how long before the start nothing was sent; negative: unknown
	// requests may have been sent, nothing can be said of the tokens.
	silence time.Duration
	// unseen is the number of requests that may have been any client's, at any time: what lost workers sent, and
	// every request of a chain of redirects but the last, which alone is in the ledger.
	unseen int64
}

func rateLimit(spec *v1beta1.LoadTestSpec, merged *measure.Measurement, total *measure.Request, silence time.Duration) (*v1beta1.RateLimitStatus, error) {
	promised := spec.RateLimit()
	refill, err := plan.Micros(promised.RefillPerSecond)
	if err != nil {
		return nil, fmt.Errorf("spec.audits: rateLimit.refillPerSecond: %w", err)
	}
	c := contract{
		capacity:   promised.Capacity * token,
		refill:     refill,
		clockError: merged.ClockError,
		silence:    silence,
		unseen:     merged.Clients.Unseen + total.Redirects,
	}
	status := &v1beta1.RateLimitStatus{
		Clients:   int64(merged.Clients.Len()),
		Untracked: merged.Clients.Untracked + merged.Clients.Unseen,
	}
	for i := range merged.Requests {
		if spec.Requests[i].Target == "" { // the contract is that of spec.target
			r := &merged.Requests[i]
			undecided := expectedOf(r, measure.ServerError) + expectedOf(r, measure.Timeout)
			status.Granted += max(0, r.Outcomes[measure.Success]-undecided)
			status.Denied += r.Outcomes[measure.RateLimited]
		}
	}
	for _, ledger := range merged.Clients.All() {
		entries := c.entries(ledger)
		status.OverLimitGrants += c.overLimitGrants(entries)
		status.FalseDenials += c.falseDenials(entries)
	}
	return status, nil
}

// entry is what a client was told in one slice of the step. All of it was
// decided between from and to; only the unknown may have been decided later.
type entry struct {
	from, to                 time.Duration
	granted, denied, unknown int64
}

// entries are a client's slices in order of time.
func (c contract) entries(ledger *measure.Ledger) []entry {
	list := make([]entry, 0, len(ledger.Slices))
	for _, s := range ledger.Slices {
		list = append(list, entry{
			from: s.FirstSent - c.clockError, to: s.LastReceived + c.clockError,
			granted: s.Granted, denied: s.Denied, unknown: s.Unknown,
		})
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return list
}

// overLimitGrants is how many grants are certainly beyond the contract. In a
// span of t seconds a bucket grants at most C + r·t, however full it was. For
// every pair of slices i ≤ j, the grants of slices i to j fell into the span
// from the first send to the last receipt among them; the largest excess over
// all pairs is the answer. Short spans find bursts, long ones find a leak.
func (c contract) overLimitGrants(entries []entry) int64 {
	var excess int64
	for i, first := range entries {
		if first.granted == 0 {
			continue
		}
		granted, to := int64(0), first.to
		for _, e := range entries[i:] {
			if e.granted == 0 {
				continue
			}
			granted += e.granted
			to = max(to, e.to)
			excess = max(excess, granted-c.allowed(to-first.from))
		}
	}
	return excess
}

// allowed is floor(C + r·span), the span stretched by the drift of the clocks.
func (c contract) allowed(span time.Duration) int64 {
	return (c.capacity + c.refilled(span+span/driftParts)) / token
}

// falseDenials is how many denials were certainly false: with a token there. For
// each slice with denials it takes the least that can have been in the bucket
// when any of them was decided; that many tokens, rounded down, were there in
// vain, so at most that many denials are called false.
func (c contract) falseDenials(entries []entry) int64 {
	if c.silence < 0 {
		return 0
	}
	// Going back in time, grants come into play at the latest moment at which
	// they can have been decided.
	latest := slices.Clone(entries)
	slices.SortFunc(latest, func(a, b entry) int { return cmp.Compare(b.to, a.to) })
	var sum int64
	for _, e := range entries {
		if e.denied == 0 {
			continue
		}
		sum += min(e.denied, c.leastTokensDuring(e, entries, latest)/token)
	}
	return sum
}

// leastTokensDuring is the least that can have been in the bucket at any time t
// of the entry, or 0. With time the bucket only fills, but for the moments from
// which more requests can have taken tokens; so only those need a look, of which the
// entry's beginning is one.
func (c contract) leastTokensDuring(e entry, entries, latest []entry) int64 {
	least := c.capacity
	for _, other := range entries {
		if e.from <= other.from && other.from <= e.to {
			least = min(least, c.leastTokensAt(other.from, latest))
		}
		if least < token { // no denial was certainly false; spare the rest
			return 0
		}
	}
	return least
}

// leastTokensAt is the least that can have been in the bucket at time t. With
// G(u, t) the tokens taken from u to t, the level of a bucket is
//
//	L(t) = min( L(0) + r·t − G(0, t),  min over u ≤ t of C + r·(t−u) − G(u, t) )
//
// where the first part says what came in and went out since the start, and the
// second that at no time u was there more than C. The level at the start is only
// known to be what the silence before it refilled, or C. G is taken as large as
// it can have been: each request that can have been decided between u and t is.
// The second part is least at the latest moments of entries, where its G grows; one of
// them, that of the denials themselves, is at t or later, and counts as t.
func (c contract) leastTokensAt(t time.Duration, latest []entry) int64 {
	// An unknown request may have been decided at any time after it was sent.
	taken := c.unseen
	for _, e := range latest {
		if e.from <= t {
			taken += e.unknown
		}
	}
	least := c.capacity
	for _, e := range latest {
		if e.from > t {
			continue
		}
		taken += e.granted
		least = min(least, c.capacity+c.refilledAtLeast(t-e.to)-taken*token)
	}
	// The run's first request, on the operator's clock, may have been sent that
	// much before the start, and the last one before the silence that much later.
	level := min(c.capacity, c.refilledAtLeast(c.silence-2*c.clockError))
	return min(least, level+c.refilledAtLeast(t+c.clockError)-taken*token)
}

// refilledAtLeast is r·d, d cut by the drift of the clocks; 0 if d is negative.
func (c contract) refilledAtLeast(d time.Duration) int64 {
	return c.refilled(d - d/driftParts)
}

// refilled is r·d, rounded down, 0 if d is negative. It stops growing at 2^61,
// far beyond the largest capacity.
func (c contract) refilled(d time.Duration) int64 {
	const most = 1 << 61
	hi, lo := bits.Mul64(uint64(c.refill), uint64(max(d, 0)))
	if hi >= uint64(time.Second) {
		return most
	}
	quotient, _ := bits.Div64(hi, lo, uint64(time.Second))
	return int64(min(quotient, most))
}

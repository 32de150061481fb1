package results

import (
	"math"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

const (
	// overlong is by how much longer than the time of 95 % of the others a request took
	// that waited for the target to come back, beside leastOverlong, in parts of the window.
	// Of a few users who wait for their replies, one slow request is notable already:
	// overlongOfOne is for one of them, and falls with their number.
	overlong, overlongOfOne, leastOverlong = 3, 20, 200
	// fewUsers is up to how many users it is overlongOfOne.
	fewUsers = 5
	// fewRequests is how many requests must have waited at least, where they come whether
	// or not others were answered.
	fewRequests = 20
	// dip is the share of the answers below which a slot shows that a part of the target
	// stood still, in percent.
	dip = 75
	// unlikeOthers is how much larger than the median a dip must be among users who wait
	// for their replies: where a few of them have slow requests, answers dip all the time.
	unlikeOthers = 4
	// beyondChance is how many standard deviations the number of answers in a dip must be
	// below the expected one.
	beyondChance = 3
	// notable is beyondChance where requests are known to have waited at the same time.
	notable = 2
	// fewDips is from how many dips on they have a median.
	fewDips = 10
)

// standing is for how long a target was down for all, if it was down for a part of them.
// More than one thing must say so. Requests took much longer than others do; answers were
// fewer than the target gives at other times; and where requests come whether or not others
// were answered, these waited at the same time.
//
// undecided is how many requests are taken to have waited for it without an end.
func (c course) standing(undecided int64) time.Duration {
	return max(c.standingUsers(undecided), c.standingRequests(undecided))
}

// waitsForReplies says whether what is outstanding cannot grow: users send the next request
// when the last one was answered.
func (c course) waitsForReplies() bool {
	return c.load.Users > 0 && !c.load.IsScheduled()
}

// standingRequests is the share of the requests that waited, of the window.
func (c course) standingRequests(undecided int64) time.Duration {
	outstanding := c.merged.Timeline.Outstanding[:c.slots]
	sorted := slices.Sorted(slices.Values(outstanding))
	together := sorted[len(sorted)-1] - sorted[len(sorted)/4]
	if c.merged.Due == 0 || c.waitsForReplies() {
		return 0
	}
	times := c.total.Ideally()
	// Some were answered between the end of the slot and that of the outage.
	limit := c.overlong(times, overlong, together+together/2)
	n, _ := times.LongerThan(limit)
	waited := float64(n)
	if longest := times.Max(); n > 0 && longest > limit {
		// They came at any time of the outage: those that came at its end waited shortly.
		waited *= float64(longest) / float64(longest-limit)
	}
	endless := c.total.Outcomes[measure.Unfinished] - c.total.Undecided + undecided
	peak := slices.Index(outstanding, sorted[len(sorted)-1])
	waited = min(waited+float64(endless), float64(together), c.missingUntil(peak, sorted[len(sorted)/4]))
	if waited < fewRequests {
		return 0
	}
	// Of a ramp, as many requests are a larger part of the window where it is low.
	sum := 0.0
	for _, h := range c.high {
		sum += h
	}
	return c.ofWindow(waited / float64(c.merged.Due) * sum / max(1, c.high[peak]*float64(c.slots)))
}

// missingUntil is how many answers were missing while the outstanding requests grew to their
// peak from so many; 0 if chance explains it.
func (c course) missingUntil(peak int, from int64) float64 {
	first := peak
	for first > 0 && c.merged.Timeline.Outstanding[first-1] > from {
		first--
	}
	expected, lacking := 0.0, 0.0
	for i := first; i <= peak; i++ {
		usual := c.usual(i, first, peak)
		expected += usual
		lacking += usual - float64(c.merged.Timeline.Answered[i])
	}
	if lacking < notable*math.Sqrt(expected) {
		return 0
	}
	return lacking
}

// usual is how many answers come in a slot on average, without the slots from first to last;
// of a ramp, in those around it. What comes together after them counts as the ninth of ten.
func (c course) usual(i, first, last int) float64 {
	from, to := c.around(i)
	var others []int64
	for j := from; j < to; j++ {
		if j < first || j > last {
			others = append(others, c.merged.Timeline.Answered[j])
		}
	}
	if len(others) < fewDips {
		return c.high[i]
	}
	slices.Sort(others)
	sum := int64(0)
	for _, n := range others {
		sum += min(n, others[len(others)*9/10])
	}
	return float64(sum) / float64(len(others))
}

// standingUsers is the share of the users' time that went into requests which were answered
// much later than others, of the window. As answers count as too few from dip on, as large a part of the
// users must have waited: one slow request among many users does not make answers fewer, which by chance, or
// since the users think at the same time, they always are somewhere.
func (c course) standingUsers(undecided int64) time.Duration {
	s, users := c.total.Service, int64(c.load.MostUsers())
	if users == 0 || c.merged.UserTime <= 0 {
		return 0
	}
	factor := min(overlongOfOne, max(overlong, overlongOfOne*fewUsers/users))
	n, sum := s.LongerThan(c.overlong(s, factor, min(users/2, s.Count()/200)))
	if 100*(n+undecided) < (100-dip)*int64(c.load.Users+c.load.LastUsers())/2 {
		return 0
	}
	waited := float64(sum) + float64(undecided)*float64(c.merged.Window)
	return min(c.ofWindow(waited/float64(c.merged.UserTime)), c.dips())
}

// overlong is the time beyond which a request waited for the target to come back, if so many
// of them may have.
func (c course) overlong(h *measure.Histogram, factor, waited int64) time.Duration {
	return max(time.Duration(factor)*c.within(h, 0.95, waited), 2*c.within(h, rare, waited)) + max(c.merged.Window/leastOverlong, shortest)
}

// dips is the time in which answers were too few, each slot by the share of answers that
// were missing. Dips that chance explains are left out, and those that are not larger than
// the median one by unlikeOthers.
func (c course) dips() time.Duration {
	var all []float64
	for i := 0; i < c.slots; {
		d, next := c.dipAt(i)
		if i = next; d > 0 {
			all = append(all, d)
		}
	}
	median := 0.0
	if len(all) >= fewDips {
		median = slices.Sorted(slices.Values(all))[len(all)/2]
	}
	sum := 0.0
	for _, missing := range all {
		if missing > unlikeOthers*median {
			sum += missing
		}
	}
	return time.Duration(sum * float64(c.slot))
}

// dipAt is how many slots' answers were missing in the dip that begins with slot i, 0 if none
// does, and the slot after it. It goes on as long as the answers, from its beginning on, are
// fewer than dip of those that are to be expected, and ends where they are fewest by that.
func (c course) dipAt(i int) (missing float64, next int) {
	below, lowest := 0.0, 0.0
	end := i
	for j := i; j < c.slots; j++ {
		if below += float64(c.merged.Timeline.Answered[j]) - dip*c.high[j]/100; below >= 0 {
			break
		}
		if below < lowest {
			lowest, end = below, j+1
		}
	}
	expected, lacking := 0.0, 0.0
	for j := i; j < end; j++ {
		lack := c.high[j] - float64(c.merged.Timeline.Answered[j])
		expected, lacking = expected+c.high[j], lacking+lack
		missing += lack / c.high[j]
	}
	if end == i {
		return 0, i + 1
	}
	if lacking < beyondChance*math.Sqrt(expected) {
		return 0, end
	}
	return missing, end
}

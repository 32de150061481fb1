package verdict_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// silence is a time in which a target answers nothing: to all, or to each other user, or
// arrival by chance. What comes meanwhile is dropped, refused, or answered afterwards.
type silence struct {
	at, length           time.Duration
	half, drops, refuses bool
}

// serviceTimes are the times in which a target answers.
type serviceTimes struct {
	kind   string // constant, exponential, lognormal or twoPaths
	median time.Duration
	sigma  float64
}

func (s serviceTimes) draw(rng *rand.Rand) time.Duration {
	m := float64(s.median)
	switch s.kind {
	case "exponential":
		m *= rng.ExpFloat64() / math.Ln2
	case "twoPaths":
		if rng.Float64() < 0.01 {
			m *= 30
		}
	case "lognormal":
		m *= math.Exp(s.sigma * rng.NormFloat64())
	}
	return max(50*time.Microsecond, time.Duration(m))
}

// p95 is the time within which 95 % of the requests are answered.
func (s serviceTimes) p95() time.Duration {
	factor := map[string]float64{"exponential": math.Log(20) / math.Ln2, "lognormal": math.Exp(1.645 * s.sigma)}[s.kind]
	return time.Duration(max(1, factor) * float64(s.median))
}

// timeOfARequest is the life of a request, from the start of the window on.
type timeOfARequest struct {
	due, sent, end time.Duration
	pause          time.Duration // of its user, after it has failed
	outcome        measure.Outcome
	undecided      bool
	worker         int
}

const neverSent = math.MaxInt64

// silentStep simulates a step against a target that answers each request by itself.
type silentStep struct {
	rng      *rand.Rand
	load     v1beta1.StepLoad
	kind     string
	window   time.Duration
	timeout  time.Duration
	service  serviceTimes
	silences []silence
	errors   float64 // the share of requests that fail fast
	// servers are when each server of the target is free; none: it has one for each request.
	// Requests must be sent in order.
	servers []time.Duration

	requests []timeOfARequest
	userTime time.Duration
	waited   time.Duration
	closed   bool // what is outstanding counts from when it was sent
}

// refusal is how long it takes until a connection is refused, and refusedPause the pause that a
// user without a rate makes then.
const refusal, refusedPause = 200 * time.Microsecond, 100 * time.Millisecond

// answer is when a request that is sent then ends, and how.
func (s *silentStep) answer(hit int, sent time.Duration) (end time.Duration, outcome measure.Outcome) {
	outcome = measure.Success
	took := s.service.draw(s.rng)
	if s.rng.Float64() < s.errors {
		outcome, took = measure.ServerError, took/4
	}
	end = sent + took
	if n := len(s.servers); n > 0 {
		first := slices.Index(s.servers, slices.Min(s.servers))
		s.servers[first] = max(sent, s.servers[first]) + took
		end = s.servers[first]
	}
	for _, x := range s.silences {
		switch over := x.at + x.length; {
		case x.half && hit%2 == 0 || end <= x.at || sent >= over:
		case x.refuses:
			return max(x.at, sent) + refusal, measure.Refused
		case sent < x.at:
			end += x.length
		case x.drops:
			end = math.MaxInt64 / 2
		default:
			end = over + took
		}
	}
	if end > sent+s.timeout {
		end, outcome = sent+s.timeout, measure.Timeout
	}
	return end, outcome
}

// send adds a request, of a user if it is not negative, and returns when it ends.
func (s *silentStep) send(user int, due, sent time.Duration) time.Duration {
	hit, worker := user, user%simulatedWorkers
	if user < 0 {
		hit, worker = s.rng.IntN(2), s.rng.IntN(simulatedWorkers)
	}
	r := timeOfARequest{due: due, sent: sent, worker: worker}
	r.end, r.outcome = s.answer(hit, sent)
	if drained := s.window + min(s.timeout, 30*time.Second); r.end > drained {
		r.end, r.outcome, r.undecided = drained, measure.Unfinished, true
	}
	if r.outcome == measure.Refused && s.closed && !s.load.IsBurst() {
		r.pause = refusedPause
	}
	s.requests = append(s.requests, r)
	if user >= 0 && r.outcome != measure.Success && sent < s.window {
		s.waited += min(r.end+r.pause, s.window) - sent
	}
	return r.end + r.pause
}

// users send one request after another: at a rate each if there is one, after thinking for
// think on average, or as fast as replies come; user n from begins(n) on.
func (s *silentStep) users(n int, perSecond float64, think time.Duration, from, until func(int) time.Duration) {
	s.closed = perSecond == 0
	for user := range n {
		begins, ends := from(user), until(user)
		s.userTime += ends - begins
		if perSecond > 0 {
			free := begins
			interval := time.Duration(float64(time.Second) / perSecond)
			for due := begins + time.Duration(s.rng.Float64()*float64(interval)); due < ends; due += interval {
				if free >= s.window {
					s.requests = append(s.requests, timeOfARequest{due: due, sent: neverSent, end: neverSent, worker: user % simulatedWorkers})
					continue
				}
				free = s.send(user, due, max(due, free))
			}
			continue
		}
		for at := begins; at < ends; {
			if think > 0 {
				at += time.Duration(s.rng.Float64() * 2 * float64(think))
				if at >= ends {
					break
				}
			}
			at = s.send(user, at, at)
		}
	}
}

// arrivals arrive at a rate that grows from low to high, evenly or by chance.
func (s *silentStep) arrivals(low, high float64, poisson bool) {
	w := s.window.Seconds()
	for n := 0.0; ; {
		if poisson {
			n += s.rng.ExpFloat64()
		} else {
			n++
		}
		at := n / low
		if high != low { // n = low t + (high - low) t^2 / 2w
			a := (high - low) / (2 * w)
			at = (math.Sqrt(low*low+4*a*n) - low) / (2 * a)
		}
		if !(at < w) {
			return
		}
		t := time.Duration(at * float64(time.Second))
		s.send(-1, t, t)
	}
}

var silentKinds = []string{"rate per user", "closed", "think", "arrivals", "poisson", "ramp of arrivals", "ramp of users", "ramp of users with a rate", "burst"}

// run sends so many requests, about, in the window.
func (s *silentStep) run(total float64) {
	w := s.window.Seconds()
	from := func(int) time.Duration { return 0 }
	until := func(int) time.Duration { return s.window }
	s.load.Duration = &metav1.Duration{Duration: s.window}
	mean := s.service.median.Seconds() * 1.4
	decimal := func(f float64) *v1beta1.Decimal { return ptr(v1beta1.NewDecimal(strconv.FormatFloat(f, 'f', 3, 64))) }
	atOnce := func(perUser float64) int { return max(1, int(math.Round(total/w/perUser))) }
	ramped := func(n int) func(int) time.Duration {
		return func(user int) time.Duration { return s.window * time.Duration(user) / time.Duration(2*n) }
	}
	switch s.kind {
	case "rate per user":
		perUser := min(10, 0.5/mean)
		s.load.Users, s.load.RatePerUser = int32(atOnce(perUser)), decimal(perUser)
		s.users(int(s.load.Users), perUser, 0, from, until)
	case "ramp of users with a rate":
		perUser := min(10, 0.5/mean)
		n := atOnce(perUser)
		s.load.Users, s.load.RatePerUser, s.load.RampTo = int32(max(1, n/2)), decimal(perUser), decimal(float64(n))
		s.users(n, perUser, 0, ramped(n), until)
	case "closed":
		s.load.Users = int32(atOnce(1 / mean))
		s.users(int(s.load.Users), 0, 0, from, until)
	case "ramp of users":
		n := atOnce(1 / mean)
		s.load.Users, s.load.RampTo = int32(max(1, n/2)), decimal(float64(n))
		s.users(n, 0, 0, ramped(n), until)
	case "think":
		think := time.Duration(10 * mean * float64(time.Second))
		s.load.Users, s.load.Think = int32(atOnce(1/(11*mean))), v1beta1.NewThink(time.Second, time.Second)
		s.users(int(s.load.Users), 0, think, from, until)
	case "arrivals", "poisson":
		s.load.Rate = decimal(total / w)
		s.arrivals(total/w, total/w, s.kind == "poisson")
	case "ramp of arrivals":
		s.load.Rate, s.load.RampTo = decimal(0.5*total/w), decimal(1.5*total/w)
		s.arrivals(0.5*total/w, 1.5*total/w, false)
	case "burst":
		n := atOnce(1 / mean)
		each := max(1, int(total)/n)
		s.load.Users, s.load.RequestsPerUser, s.load.Duration = int32(n), int32(each), nil
		s.load.MaxDuration = &metav1.Duration{Duration: s.window}
		s.burst(n, each)
	}
}

// burst has its users send so many requests each, and ends with the last response.
func (s *silentStep) burst(n, each int) {
	s.closed = true
	limit := s.window
	last := time.Duration(0)
	for user := range n {
		at := time.Duration(0)
		for k := 0; k < each && at < limit; k++ {
			at = s.send(user, at, at)
		}
		last = max(last, min(at, limit))
	}
	s.window, s.userTime = last, time.Duration(n)*last
}

// measured is what the workers measured, merged.
func (s *silentStep) measured() *measure.Measurement {
	merged := measure.NewMeasurement(1)
	planned := s.window
	if s.load.IsBurst() {
		planned = s.load.MaxDuration.Duration
	}
	slot := planned / measure.TimelineSlots
	for w := range simulatedWorkers {
		m := measure.NewMeasurement(1)
		m.Timeline, m.Window = &measure.Timeline{}, s.window
		r := &m.Requests[0]
		var changes, unsent [measure.TimelineSlots + 1]int64
		at := func(t time.Duration) int { return int(min((t+slot-1)/slot, measure.TimelineSlots)) }
		for i := range s.requests {
			x := &s.requests[i]
			if x.worker != w {
				continue
			}
			m.Due++
			r.Due++
			begins := x.due
			if s.closed {
				begins = x.sent
			}
			// Outstanding at the ends of the slots from the one in which it begins to the one before it ends.
			first, last := min(int(begins/slot), measure.TimelineSlots), at(measureEnd(x.end+x.pause, planned+slot))-1
			if first < measure.TimelineSlots && last >= first {
				changes[first]++
				changes[min(last, measure.TimelineSlots)]--
			}
			if last := min(last, at(measureEnd(x.sent, planned+slot))-1); first < measure.TimelineSlots && last >= first {
				unsent[first]++
				unsent[min(last, measure.TimelineSlots)]--
			}
			if x.sent == neverSent {
				m.Unsent++
				continue
			}
			s.count(r, m, x, slot)
		}
		sum, notSent := int64(0), int64(0)
		for i := range m.Timeline.Outstanding {
			sum += changes[i]
			notSent += unsent[i]
			m.Timeline.Outstanding[i], m.Timeline.Unsent[i] = sum, notSent
		}
		m.UserTime, m.Waited = s.userTime/simulatedWorkers, s.waited/simulatedWorkers
		if err := merged.Merge(m); err != nil {
			panic(err)
		}
	}
	return merged
}

func measureEnd(end, most time.Duration) time.Duration { return min(end, most) }

func (s *silentStep) count(r *measure.Request, m *measure.Measurement, x *timeOfARequest, slot time.Duration) {
	r.Sent++
	r.Outcomes[x.outcome]++
	if x.outcome == measure.Unfinished {
		r.Undecided++
		return
	}
	r.Response.Record(x.end - x.due)
	r.Service.Record(x.end - x.sent)
	switch x.outcome {
	case measure.Success:
		r.Expected++
	default:
		r.Failed.Record(x.end-x.due, x.end-x.sent, x.end-x.due)
	}
	if i := int(x.end / slot); x.outcome.Responded() && i < measure.TimelineSlots {
		m.Timeline.Answered[i]++
	}
	if x.end <= s.window && x.outcome == measure.Success {
		r.CompletedInWindow++
		r.ExpectedInWindow++
	}
}

// judged is the worst state of the default thresholds, and the metric that has it.
func (s *silentStep) judged(edits ...func(*measure.Measurement)) (v1beta1.ThresholdState, v1beta1.ThresholdStatus) {
	spec := &v1beta1.LoadTestSpec{Requests: []v1beta1.Request{{Name: "read"}}}
	steps := []v1beta1.StepStatus{{Name: "1", State: v1beta1.StepComplete, Load: s.load, Result: &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{Healthy: true}}}}
	requests := plan.RequestNames(spec)
	status := &v1beta1.LoadTestStatus{Requests: requests, Steps: steps, Thresholds: verdict.Thresholds(spec, requests, steps)}
	merged := s.measured()
	for _, edit := range edits {
		edit(merged)
	}
	after := verdict.Judge(spec, status, 0, merged)
	for _, t := range after.Thresholds {
		if t.Metric == v1beta1.MetricDowntime {
			return after.Step, t
		}
	}
	return after.Step, v1beta1.ThresholdStatus{}
}

func (s *silentStep) String() string {
	return fmt.Sprintf("%s, %v, %s of %v (sigma %.2f), timeout %v, %d requests, %d users, silences %+v", s.kind, s.window,
		s.service.kind, s.service.median, s.service.sigma, s.timeout, len(s.requests), cmp.Or(s.load.Users, 0), s.silences)
}

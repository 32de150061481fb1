//go:build !race

package attack

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// judgedRun is a run of which the truth is known: what is measured of the same target by
// workers without a fault.
type judgedRun struct {
	simulatedFleet
	random    *rand.Rand
	kind      string
	step      v1beta1.StepLoad
	window    time.Duration
	mean      time.Duration // of a request's time
	perSecond float64       // about how many requests there are a second
	steady    bool          // its longest times do not depend on when requests are sent
	limit     v1beta1.Threshold
	fault     string
}

var judgedKinds = []string{
	"rate per user", "closed", "think", "arrivals", "poisson", "ramp of arrivals", "ramp of users", "ramp of users with a rate", "burst",
}

func logUniform(random *rand.Rand, low, high float64) float64 {
	return low * math.Exp(random.Float64()*math.Log(high/low))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// newJudgedRun draws a run of the kind that the seed says, without faults yet.
func newJudgedRun(seed, stream uint64) *judgedRun {
	random := rand.New(rand.NewPCG(seed, stream))
	r := &judgedRun{random: random, kind: judgedKinds[seed%uint64(len(judgedKinds))]}
	r.window = seconds(logUniform(random, 5, 40)).Round(time.Millisecond)
	r.timeout = []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second}[random.IntN(3)]
	r.faults = make([]*simulatedFault, 1+random.IntN(3))
	median, sigma := seconds(logUniform(random, 0.001, 0.1)), 0.2+0.6*random.Float64()
	service := map[int]func(*rand.Rand) float64{
		0: func(*rand.Rand) float64 { return 1 },
		1: func(x *rand.Rand) float64 { return x.ExpFloat64() / math.Ln2 },
		2: func(x *rand.Rand) float64 { return math.Exp(sigma * x.NormFloat64()) },
	}[random.IntN(3)]
	r.mean = median * 5 / 4
	errors := max(0, 0.006*random.Float64()-0.003)
	r.plan(logUniform(random, 400, 3000))
	slow := r.slowTimes()
	r.steady = slow == nil
	servers := 0
	if random.IntN(2) == 0 { // it works on so many at once
		servers = 1 + int(r.perSecond*r.mean.Seconds()/(0.2+0.4*random.Float64()))
	}
	target := simulatedTarget{seed: seed, errors: errors, slow: slow, service: func(x *rand.Rand) time.Duration {
		return time.Duration(float64(median) * service(x))
	}}
	r.target = func() *simulatedTarget {
		return &simulatedTarget{seed: target.seed, errors: target.errors, slow: target.slow, service: target.service, servers: make([]time.Duration, servers)}
	}
	return r
}

// slowTimes are when a target that keeps its limits is slow: often never.
func (r *judgedRun) slowTimes() (list []slowTime) {
	at := func(length time.Duration, factor float64) slowTime {
		from := time.Duration(r.random.Float64() * float64(r.window-length))
		return slowTime{from: from, until: from + length, factor: factor}
	}
	switch r.random.IntN(3) {
	case 0: // it is slow for a while
		list = append(list, at(time.Duration((0.02+0.18*r.random.Float64())*float64(r.window)), 1+2*r.random.Float64()))
	case 1: // it collects garbage
		list = append(list, at(time.Duration(0.003*r.random.Float64()*float64(r.window)), 0))
	}
	return list
}

// plan plans about so many requests.
func (r *judgedRun) plan(total float64) {
	w, mean := r.window.Seconds(), r.mean.Seconds()
	decimal := func(micros pace.Rate) *v1beta1.Decimal {
		d := v1beta1.NewDecimal(strconv.FormatFloat(float64(micros)/1e6, 'f', 6, 64))
		return &d
	}
	atOnce := func(perUser float64) int64 { return max(1, int64(math.Round(total/w/perUser))) }
	perUser := pace.Rate(min(10, 0.4/mean) * 1e6)
	r.perSecond = total / w
	r.step.Duration = &metav1.Duration{Duration: r.window}
	users := func(n int64) { r.step.Users, r.total = int32(n), n }
	switch r.kind {
	case "rate per user":
		n := atOnce(float64(perUser) / 1e6)
		users(n)
		r.step.RatePerUser = decimal(perUser)
		r.load = PacedUsers{Rate: perUser * pace.Rate(n), Duration: r.window}
	case "ramp of users with a rate":
		n := max(2, atOnce(float64(perUser)/1e6))
		users(n)
		r.step.Users, r.step.RampTo, r.step.RatePerUser = int32(n/2), whole(n), decimal(perUser)
		r.load = RampedUsers{From: n / 2, To: n, Duration: r.window, Each: perUser}
	case "closed":
		users(atOnce(1 / mean))
		r.load = ClosedUsers{Duration: r.window}
	case "ramp of users":
		n := max(2, atOnce(1/mean))
		users(n)
		r.step.Users, r.step.RampTo = int32(n/2), whole(n)
		r.load = RampedUsers{From: n / 2, To: n, Duration: r.window}
	case "think":
		think := pace.Think{Shortest: 5 * r.mean, Longest: 15 * r.mean}
		users(atOnce(1 / (11 * mean)))
		r.step.Think = v1beta1.NewThink(think.Shortest, think.Longest)
		r.load = ClosedUsers{Duration: r.window, Think: think}
	case "arrivals", "poisson", "ramp of arrivals":
		rate := pace.Rate(total / w * 1e6)
		load := Arrivals{Rate: rate, Duration: r.window}
		r.step.Rate = decimal(rate)
		switch r.kind {
		case "poisson":
			load.Poisson, r.step.Arrivals = true, v1beta1.ArrivalsPoisson
		case "ramp of arrivals":
			load.Rate, load.End = rate/2, rate*3/2
			r.step.Rate, r.step.RampTo = decimal(load.Rate), decimal(load.End)
		}
		if r.load = load; r.kind != "poisson" {
			r.total = pace.Ramp{From: load.Rate, To: cmp.Or(load.End, load.Rate), Length: r.window}.Before(r.window)
			r.step.Requests = r.total
		}
	case "burst":
		n := atOnce(1 / mean)
		users(n)
		each := max(1, int64(total)/n)
		r.step.RequestsPerUser, r.step.Duration, r.step.MaxDuration = int32(each), nil, &metav1.Duration{Duration: 4 * r.window}
		r.step.Requests = n * each
		r.load = Burst{Requests: each, Limit: 4 * r.window}
	}
	if n := len(r.faults); r.total > 0 && int64(n) > r.total {
		r.faults = r.faults[:r.total]
	}
}

func whole(n int64) *v1beta1.Decimal {
	d := v1beta1.NewDecimal(strconv.FormatInt(n, 10))
	return &d
}

// without is the same run without faults: what is true of its target.
func (r *judgedRun) without() *judgedRun {
	sound := *r
	sound.faults = make([]*simulatedFault, len(r.faults))
	return &sound
}

// choose chooses a threshold of which the truth is by factor away from the limit: it keeps it
// if that is above 1, else it breaches it. ok is false if too few requests were sent for it.
func (r *judgedRun) choose(truth *measure.Measurement, factor float64) (ok bool) {
	total, err := truth.Total()
	if err != nil {
		return false
	}
	atMost := func(d time.Duration) *intstr.IntOrString {
		s := intstr.FromString(fmt.Sprintf("%dus", int64(float64(d)*factor)/1000))
		return &s
	}
	q := func(q float64) time.Duration { d, _ := total.Response.Quantile(q); return d }
	n := 3
	if r.steady {
		n = 5
	}
	switch r.random.IntN(n) {
	case 0:
		r.limit = v1beta1.Threshold{Metric: "p50", Max: atMost(q(0.5))}
	case 1:
		r.limit = v1beta1.Threshold{Metric: "p95", Max: atMost(q(0.95))}
	case 2:
		r.limit = v1beta1.Threshold{Metric: "p99", Max: atMost(q(0.99))}
	default:
		r.limit = v1beta1.Threshold{Metric: v1beta1.MetricLongest, Max: atMost(total.Response.Max())}
		if total.Sent > 1100 && r.random.IntN(2) == 0 {
			r.limit = v1beta1.Threshold{Metric: "p99.9", Max: atMost(q(0.999))}
		}
	}
	return total.Response.Count() >= 110
}

// punctual chooses a threshold on the share of the requests that are answered in time.
func (r *judgedRun) punctual(truth *measure.Measurement, factor float64) {
	total, err := truth.Total()
	if err != nil {
		return
	}
	within, _ := total.Response.Quantile(0.95)
	within = time.Duration(float64(within) * factor)
	r.times = []time.Duration{within}
	least := intstr.FromString("90%")
	r.limit = v1beta1.Threshold{Metric: v1beta1.MetricOnTimeRate, Within: &metav1.Duration{Duration: within}, Min: &least}
}

// judged is what the operator makes of a measurement of the run.
type judged struct {
	verdict   v1beta1.Verdict
	reason    string
	message   string
	displaced bool
}

func (r *judgedRun) judge(t *testing.T, merged *measure.Measurement) judged {
	t.Helper()
	spec := v1beta1.LoadTestSpec{Requests: []v1beta1.Request{{Name: "a"}}, Thresholds: []v1beta1.Threshold{r.limit}}
	workers := int32(len(r.faults))
	lt := &v1beta1.LoadTest{Spec: spec}
	lt.Status.Requests, lt.Status.Workers.Desired = plan.RequestNames(&spec), workers
	lt.Status.Steps = []v1beta1.StepStatus{{Name: "1", State: v1beta1.StepComplete, Load: r.step, WorkersReporting: workers}}
	lt.Status.Thresholds = verdict.Thresholds(&spec, lt.Status.Requests, lt.Status.Steps)
	step := &lt.Status.Steps[0]
	result, err := results.StepResult(lt, step, merged, 0)
	must.Succeed(t, err)
	results.Settle(result)
	step.Result = result
	after := verdict.Judge(&lt.Spec, &lt.Status, 0, merged)
	lt.Status.Thresholds, step.ThresholdState = after.Thresholds, after.Step
	final := verdict.Final(&lt.Spec, &lt.Status)
	return judged{final.Verdict, final.Reason, final.Message, result.Generator.LoadDisplaced}
}

// spoil draws faults of one worker, or of all: whole stops, throttling and lateness of any
// distribution, alone and together, for a part of the run or all of it.
func (r *judgedRun) spoil() {
	all, affected := r.random.IntN(2) == 0, r.random.IntN(len(r.faults))
	kinds := []int{r.random.IntN(6)}
	if r.random.IntN(4) == 0 {
		kinds = append(kinds, r.random.IntN(6))
	}
	share := min(1, logUniform(r.random, 0.02, 2))
	if r.waits() { // longer ones displace its load
		share = min(1, logUniform(r.random, 0.002, 0.1))
	}
	length := time.Duration(share * float64(r.window))
	from := time.Duration(r.random.Float64() * float64(r.window-length))
	var parts []string
	for w := range r.faults {
		if !all && w != affected {
			continue
		}
		f := &simulatedFault{seed: r.random.Uint64(), from: from, until: from + length}
		parts = nil
		for _, kind := range kinds {
			parts = append(parts, r.spoilBy(f, kind))
		}
		r.faults[w] = f
	}
	r.fault = fmt.Sprintf("%s from %v to %v (of %d workers, all: %v)", strings.Join(parts, " and "), from, from+length, len(r.faults), all)
}

// waits says whether users wait for their replies and send the next request at once: each
// delay of the generator is one of the load.
func (r *judgedRun) waits() bool {
	return r.kind == "closed" || r.kind == "ramp of users" || r.kind == "burst"
}

func (r *judgedRun) spoilBy(f *simulatedFault, kind int) string {
	switch kind {
	case 0: // stopped, once
		longest := 0.2
		if r.random.IntN(2) == 0 {
			longest = 0.03
		}
		length := time.Duration(logUniform(r.random, 0.002, longest) * float64(r.window))
		at := time.Duration(r.random.Float64() * float64(r.window))
		f.stops = []slowTime{{from: at, until: at + length}}
		return fmt.Sprintf("stopped at %v for %v", at, length)
	case 1: // throttled
		f.ran = time.Duration(5+r.random.IntN(90)) * time.Millisecond
		return fmt.Sprintf("throttled after %v", f.ran)
	}
	median := logUniform(r.random, 0.001, 0.05)
	sigma, alpha := 0.5+r.random.Float64(), 1.2+1.5*r.random.Float64()
	switch kind {
	case 2:
		f.late = func(*rand.Rand) time.Duration { return seconds(median) }
		return fmt.Sprintf("late by %v", seconds(median))
	case 3:
		f.late = func(x *rand.Rand) time.Duration { return seconds(median * x.ExpFloat64()) }
		return fmt.Sprintf("late by %v, exponentially", seconds(median))
	case 4:
		f.late = func(x *rand.Rand) time.Duration { return seconds(median * math.Exp(sigma*x.NormFloat64())) }
		return fmt.Sprintf("late by %v, log-normally with %.2f", seconds(median), sigma)
	}
	median /= 4
	f.late = func(x *rand.Rand) time.Duration { return seconds(min(5, median/math.Pow(1-x.Float64(), 1/alpha))) }
	return fmt.Sprintf("late by %v at least, by Pareto with %.2f", seconds(median), alpha)
}

func (r *judgedRun) String() string {
	limit := r.limit.Max
	if limit == nil {
		limit = r.limit.Min
	}
	return fmt.Sprintf("%s for %v, %d users, about %.0f/s of %v, %s %s: %s", r.kind, r.window, r.step.MostUsers(), r.perSecond, r.mean,
		r.limit.Metric, limit, r.fault)
}

// simulations is how many runs are simulated, and few without the variable.
func simulations(t *testing.T, few int) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("SIMULATIONS"), strconv.Itoa(few)))
	if err != nil || n < 1 {
		t.Fatalf("SIMULATIONS is no number of runs: %v", err)
	}
	return n
}

// tally counts what became of runs, in words.
type tally map[string]int

func (c tally) String() string {
	var list []string
	for _, what := range slices.Sorted(maps.Keys(c)) {
		list = append(list, fmt.Sprintf("%s: %d", what, c[what]))
	}
	return strings.Join(list, ", ")
}

// isHealthy says whether the target keeps its threshold, and the default ones, in truth.
func (r *judgedRun) isHealthy(t *testing.T, truth *measure.Measurement, factor float64) bool {
	t.Helper()
	if r.random.IntN(5) == 0 {
		r.punctual(truth, factor)
		truth = r.without().run(t)
	} else if !r.choose(truth, factor) {
		return false
	}
	got := r.judge(t, truth)
	if got.verdict != v1beta1.VerdictPassed {
		t.Logf("left out, as it is not healthy: %v: %s", r, got.message)
	}
	return got.verdict == v1beta1.VerdictPassed
}

// TestSimulatedHealthyTargets: whatever workers do, stand still, are throttled or late, a
// target that keeps its limits by a quarter is never Failed; and where the load was not the
// planned one, it is not Passed either.
func TestSimulatedHealthyTargets(t *testing.T) {
	t.Parallel()
	n, counts := simulations(t, 27), tally{}
	failed, asPlanned, all := 0, 0, 0
	for seed := uint64(0); asPlanned < n; seed++ {
		r := newJudgedRun(seed, 21)
		truth := r.without().run(t)
		if !r.isHealthy(t, truth, logUniform(r.random, 1.25, 20)) {
			counts["left out"]++
			continue
		}
		r.spoil()
		got := r.judge(t, r.run(t))
		all++
		load := "displaced"
		if !got.displaced {
			load = "as planned"
			asPlanned++
		}
		counts[fmt.Sprintf("%s and %s", load, got.verdict)]++
		if got.verdict == v1beta1.VerdictFailed || got.displaced && got.verdict != v1beta1.VerdictInconclusive {
			failed++
			t.Errorf("seed %d, load %s, is %s: %v: %s", seed, load, got.verdict, r, got.message)
		}
	}
	t.Logf("%d healthy targets with faulty workers: %v", all, counts)
	if kept := counts["as planned and Passed"]; 2*kept < asPlanned {
		t.Errorf("%d of %d are Passed: the others show nothing", kept, asPlanned)
	}
	fmt.Printf("bench-judgement: healthy-target-failed=%.3f\n", float64(failed)/float64(all))
}

// A target that refuses connections for a part of the window is down for as long, though its
// users make far fewer requests then.
func TestTargetsThatRefuseAreNotPassed(t *testing.T) {
	const window = 30 * time.Second
	for _, part := range []time.Duration{2, 10, 30, 45} {
		refused := window * part / 100
		for name, think := range map[string]time.Duration{"without a pause": 0, "who think": 50 * ms} {
			step := usersStep(5, ClosedUsers{Duration: window, Think: fixed(think)})
			m, _ := simulated{step: step, serve: refusesFrom(5*time.Second, 5*time.Second+refused, ms)}.run(t)
			r := judgedRun{step: v1beta1.StepLoad{Users: 5, Duration: &metav1.Duration{Duration: window}}}
			most := intstr.FromString("1s")
			r.limit, r.faults = v1beta1.Threshold{Metric: v1beta1.MetricLongest, Max: &most}, make([]*simulatedFault, 1)
			if got := r.judge(t, m); got.verdict != v1beta1.VerdictFailed {
				t.Errorf("users %s, refused for %v of %v: %s: %s", name, refused, window, got.verdict, got.message)
			}
		}
	}
}

// beBusy has all workers run beside other programs: they are late all the time, by up to a
// longest time. That of users who wait for their replies is so short that it does not displace
// their load.
func (r *judgedRun) beBusy() (longest time.Duration) {
	typical := logUniform(r.random, 0.0005, 0.013)
	if r.waits() {
		typical = 0.002 * r.mean.Seconds()
	}
	longest = seconds(5 * typical)
	kind := r.random.IntN(4)
	for w := range r.faults {
		r.faults[w] = &simulatedFault{seed: r.random.Uint64(), until: math.MaxInt64, late: func(x *rand.Rand) time.Duration {
			late := typical
			switch kind {
			case 1:
				late *= x.ExpFloat64()
			case 2:
				late *= math.Exp(0.7 * x.NormFloat64())
			case 3:
				late *= 0.4 / math.Pow(1-x.Float64(), 1/1.6)
			}
			return min(longest, seconds(late))
		}}
	}
	r.fault = fmt.Sprintf("late by %v, distribution %d", seconds(typical), kind)
	return longest
}

// TestSimulatedBusyGenerators: lateness that cannot change what is decided does not make it
// undecided. The limit is further from what is true than three times the longest lateness.
func TestSimulatedBusyGenerators(t *testing.T) {
	t.Parallel()
	n, counts := simulations(t, 27), tally{}
	undecided, asPlanned := 0, 0
	for seed := uint64(0); asPlanned < n; seed++ {
		r := newJudgedRun(seed, 22)
		truth, longest := r.without().run(t), r.beBusy()
		want, ok := r.farFrom(t, truth, 3*longest)
		if !ok {
			counts["left out"]++
			continue
		}
		got := r.judge(t, r.run(t))
		if got.displaced {
			counts["displaced"]++
			continue
		}
		asPlanned++
		counts[fmt.Sprintf("%s in truth and %s", want, got.verdict)]++
		switch got.verdict {
		case want:
		case v1beta1.VerdictInconclusive:
			undecided++
			t.Logf("seed %d is undecided: %v: %s", seed, r, got.message)
		default:
			t.Errorf("seed %d is %s, want %s: %v: %s", seed, got.verdict, want, r, got.message)
		}
	}
	t.Logf("%d busy generators: %v", asPlanned, counts)
	fmt.Printf("bench-judgement: busy-undecided=%.3f\n", float64(undecided)/float64(asPlanned))
	if float64(undecided) > 0.02*float64(asPlanned) {
		t.Errorf("%d of %d are undecided", undecided, asPlanned)
	}
}

// farFrom chooses a limit that is kept, or breached, by a distance, and says what is true of
// it; ok is false if there is none.
func (r *judgedRun) farFrom(t *testing.T, truth *measure.Measurement, distance time.Duration) (want v1beta1.Verdict, ok bool) {
	t.Helper()
	if !r.choose(truth, 1) {
		return "", false
	}
	value, err := time.ParseDuration(r.limit.Max.String())
	must.Succeed(t, err)
	limit, want := value+max(distance, value/4), v1beta1.VerdictPassed
	if least := value - max(distance, value/4); least > 0 && r.random.IntN(2) == 0 {
		limit, want = least, v1beta1.VerdictFailed
	}
	most := intstr.FromString(fmt.Sprintf("%dus", limit.Microseconds()))
	r.limit.Max = &most
	return want, r.judge(t, truth).verdict == want
}

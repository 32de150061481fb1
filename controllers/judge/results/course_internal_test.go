package results

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const ms = time.Millisecond

// courseOf is a course of so many slots of 100 ms, in each of which 10 requests of 1 ms were
// answered.
func courseOf(slots int, edits ...func(*course)) course {
	m := measure.NewMeasurement(1)
	c := course{load: &v1beta1.StepLoad{}, merged: m, total: &m.Requests[0], slot: 100 * ms, slots: slots}
	m.Window, m.Timeline, m.Due = time.Duration(slots)*c.slot, &measure.Timeline{}, int64(10*slots)
	for i := range slots {
		m.Timeline.Answered[i] = 10
		c.high = append(c.high, 10)
	}
	c.total.Service.RecordN(ms, int64(10*slots))
	c.total.Response.RecordN(ms, int64(10*slots))
	for _, edit := range edits {
		edit(&c)
	}
	return c
}

// answered are the answers of the slots from one on.
func answered(from int, n ...int64) func(*course) {
	return func(c *course) { copy(c.merged.Timeline.Answered[from:], n) }
}

// took sets how many requests took each time.
func took(times map[time.Duration]int64) func(*course) {
	return func(c *course) {
		for _, h := range []*measure.Histogram{c.total.Service, c.total.Response} {
			h.Reset()
			for d, n := range times {
				h.RecordN(d, n)
			}
		}
	}
}

func slotsOf(d time.Duration) func(*course) { return func(c *course) { c.slot = d } }

// A gap is a silence if it is long enough, and enough answers are missing, and requests waited
// in it for many times as long as they take.
func TestBoundsOfASilence(t *testing.T) {
	const many = float64(time.Hour)
	rareOnes := took(map[time.Duration]int64{ms: 997, 250 * ms: 3})
	c := courseOf(20, rareOnes)
	twice := c.within(c.total.Service, rare, 0) / 2 // of a slot, of which 4 are twice the rare time
	slow := courseOf(20, took(map[time.Duration]int64{200 * ms: 10}))
	most := float64(15 * slow.within(slow.total.Service, 0.75, 0))
	for name, tc := range map[string]struct {
		course   course
		slots    int // of the gap, from the tenth on
		exposure float64
		want     bool
	}{
		"three slots":                           {courseOf(20, slotsOf(20*ms)), 3, many, true},
		"as long as a target may pause":         {courseOf(20, slotsOf(10*ms)), 5, many, false},
		"longer":                                {courseOf(20, slotsOf(10*ms+1)), 5, many, true},
		"two short slots":                       {courseOf(20, slotsOf(125*ms-1)), 2, many, false},
		"two slots of a quarter of a second":    {courseOf(20, slotsOf(125*ms)), 2, many, true},
		"ten answers are missing":               {courseOf(20, answered(0, make([]int64, 20)...), answered(0, 30)), 5, many, true},
		"nine are":                              {courseOf(20, answered(0, make([]int64, 20)...), answered(0, 29)), 5, many, false},
		"all of the window":                     {courseOf(20, answered(0, make([]int64, 20)...)), 10, many, false},
		"few wait for 20 times the p95":         {courseOf(20), 5, float64(20 * ms), true},
		"few wait for less":                     {courseOf(20), 5, float64(20*ms) - 1, false},
		"few, as long as rare ones take twice":  {courseOf(20, rareOnes, slotsOf(twice)), 4, float64(50 * ms), false},
		"few, and longer":                       {courseOf(20, rareOnes, slotsOf(twice+1)), 4, float64(50 * ms), true},
		"five wait on, whatever rare ones take": {courseOf(20, rareOnes, slotsOf(twice)), 4, float64(fewWait * 4 * twice), true},
		"fewer than five on average":            {courseOf(20, rareOnes, slotsOf(twice)), 4, float64(fewWait*4*twice) - 1, false},
		"many wait for 15 times the p75":        {slow, 5, most, true},
		"many wait for less":                    {slow, 5, most - 1, false},
	} {
		same.As(t, name+": silence", tc.want, tc.course.isSilence(gap{first: 10, last: 9 + tc.slots, exposure: tc.exposure}))
	}
}

// Of a gap, what waited at its end was hit by it: what these took is not what requests take.
func TestAGapDoesNotExplainItself(t *testing.T) {
	c := courseOf(20, took(map[time.Duration]int64{ms: 90, time.Second: 10}))
	for hit, want := range map[int64]bool{0: false, 10: true} {
		if got := c.isSilence(gap{first: 10, last: 14, exposure: float64(time.Second), hit: hit}); got != want {
			t.Errorf("few wait, %d hit: silence: %t, want %t", hit, got, want)
		}
	}
}

func TestGapsBeginWithWhatIsOutstanding(t *testing.T) {
	outstanding := func(from int, n ...int64) func(*course) {
		return func(c *course) { copy(c.merged.Timeline.Outstanding[from:], n) }
	}
	closed := func(c *course) { c.load.Users = 4 }
	for name, tc := range map[string]struct {
		course course
		want   []gap
	}{
		"none":                    {courseOf(5), nil},
		"nothing was outstanding": {courseOf(5, answered(1, 0, 0)), nil},
		"from the first answer that is missing on": {
			courseOf(6, outstanding(0, 3, 5, 7), answered(1, 0, 0)), []gap{{first: 1, last: 2, exposure: float64(3*100*ms + 5*100*ms), hit: 7}},
		},
		"two, divided by an answer": {courseOf(6, outstanding(0, 3, 5, 7, 9), answered(1, 0, 1, 0)),
			[]gap{{first: 1, last: 1, exposure: float64(3 * 100 * ms), hit: 5}, {first: 3, last: 3, exposure: float64(7 * 100 * ms), hit: 9}}},
		"two, divided by a time without requests": {courseOf(6, outstanding(0, 3, 0, 0, 4, 4), answered(1, 0, 0, 0, 0)),
			[]gap{{first: 1, last: 1, exposure: float64(3 * 100 * ms)}, {first: 4, last: 4, exposure: float64(4 * 100 * ms), hit: 4}}},
		"arrivals wait for none at first": {courseOf(3, outstanding(0, 3), answered(0, 0)), nil},
		"users who wait for replies do":   {courseOf(3, closed, outstanding(0, 3), answered(0, 0)), []gap{{exposure: float64(4 * 100 * ms), hit: 3}}},
		"not those with a rate":           {courseOf(3, closed, func(c *course) { r := v1beta1.NewDecimal("1"); c.load.RatePerUser = &r }, outstanding(0, 3), answered(0, 0)), nil},
	} {
		if got := tc.course.findGaps(); fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s: gaps %+v, want %+v", name, got, tc.want)
		}
	}
}

// What requests take by themselves is no part of a gap, unless answers come evenly.
func TestATimeOfTheRequestsExplainsAPartOfAGap(t *testing.T) {
	slow := took(map[time.Duration]int64{2 * ms: 40, 300 * ms: 60}) // the p95 is 300 ms, the p25 2 ms
	most := courseOf(20, slow).within(courseOf(20, slow).total.Service, 0.95, 0)
	first := int(most/(100*ms)) + 1
	empty := func(slots ...int) func(*course) {
		return func(c *course) {
			for _, i := range slots {
				c.merged.Timeline.Answered[i] = 0
			}
		}
	}
	g := gap{first: 10, last: 13}
	for name, tc := range map[string]struct {
		course course
		gap    gap
		want   time.Duration
	}{
		"before the first answer can come":        {courseOf(20, slow), gap{first: first - 1, last: first}, most},
		"when it can":                             {courseOf(20, slow, slotsOf(most)), gap{first: 1, last: 3}, 0},
		"answers come evenly":                     {courseOf(20, slow), g, 0},
		"in seven of ten slots":                   {courseOf(18, slow, empty(15, 16, 17)), g, 0},
		"in fewer":                                {courseOf(18, slow, empty(14, 15, 16, 17)), g, 2 * ms},
		"requests within the gap do not count":    {courseOf(18, slow, empty(10, 11, 12, 13, 15, 16, 17)), g, 0},
		"nor those before the first answer comes": {courseOf(18, slow, empty(0, 1, 2, 3, 15, 16, 17)), g, 0},
		"one other":                               {courseOf(10, slow), gap{first: first + 1, last: 9}, 0},
		"there are no others":                     {courseOf(8, slow), gap{first: first, last: 7}, 2 * ms},
	} {
		same.As(t, name, tc.want, tc.course.explained(tc.gap))
	}
}

func TestGapsAddUp(t *testing.T) {
	outstanding := func(c *course) {
		for i := range c.merged.Timeline.Outstanding {
			c.merged.Timeline.Outstanding[i] = 100
		}
	}
	for name, tc := range map[string]struct {
		course course
		want   time.Duration
	}{
		"one":                     {courseOf(40, outstanding, answered(10, 0, 0, 0)), 300 * ms},
		"two":                     {courseOf(40, outstanding, answered(10, 0, 0, 0), answered(20, 0, 0, 0, 0)), 700 * ms},
		"one that is none":        {courseOf(40, outstanding, answered(10, 0, 0, 0), answered(20, 0, 0)), 300 * ms},
		"longer than the window":  {courseOf(40, outstanding, answered(10, 0, 0, 0), func(c *course) { c.merged.Window = 200 * ms }), 200 * ms},
		"explained by the times":  {courseOf(40, outstanding, took(map[time.Duration]int64{2 * time.Second: 1}), answered(5, 0, 0, 0)), 0},
		"all explained":           {courseOf(40, outstanding, took(map[time.Duration]int64{400 * ms: 100}), func(c *course) { c.load.Users = 100 }, answered(0, 0, 0, 0)), 0},
		"at the first, explained": {courseOf(40, outstanding, func(c *course) { c.load.Users = 100 }, answered(0, 0, 0, 0)), 299 * ms},
	} {
		same.As(t, name+": gaps of", tc.want, tc.course.gaps())
	}
}

// The most answers that are to be expected are the median or the ninth of ten, less chance; of
// a ramp, of the slots around.
func TestAnswersThatAreToBeExpected(t *testing.T) {
	rising := make([]int64, 100)
	for i := range rising {
		rising[i] = int64(i)
	}
	ramp := func(c *course) { d := v1beta1.NewDecimal("1"); c.load.RampTo = &d }
	at := func(c course, slots ...int) (high []string) {
		all := c.highest()
		for _, i := range slots {
			high = append(high, fmt.Sprintf("%.2f", all[i]))
		}
		return high
	}
	even := courseOf(100, answered(0, rising...))
	same.As(t, "of a load that stays", []string{"77.86", "77.86"}, at(even, 0, 99)) // 90 - 1.28·√90
	same.As(t, "of a ramp", []string{"16.00", "58.37", "87.00"}, at(courseOf(100, answered(0, rising...), ramp), 0, 49, 99))
	same.As(t, "of few, the median", []string{"10.00"}, at(courseOf(100), 7))
	for i, want := range map[int][2]int{0: {0, 25}, 25: {0, 50}, 26: {1, 51}, 75: {50, 100}, 76: {51, 100}, 99: {74, 100}} {
		c := courseOf(100, ramp)
		if first, last := c.around(i); [2]int{first, last} != want {
			t.Errorf("around slot %d of a ramp are %d to %d, want %v", i, first, last, want)
		}
	}
	if first, last := even.around(7); first != 0 || last != 100 {
		t.Errorf("around a slot are %d to %d, want all", first, last)
	}
}

// A dip ends where its answers were fewest, and chance explains three standard deviations.
func TestDipsOfTheAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		answers []int64
		at      int
		missing string
		next    int
	}{
		"none":                       {nil, 3, "0.00", 4},
		"three quarters are no dip":  {[]int64{75}, 0, "0.00", 1},
		"fewer are":                  {[]int64{69}, 0, "0.31", 1},
		"that chance explains":       {[]int64{70}, 0, "0.30", 1},
		"that it just explains":      {[]int64{71}, 0, "0.00", 1},
		"for three slots":            {[]int64{0, 50, 60}, 0, "1.90", 3},
		"that ends where it is less": {[]int64{0, 80, 20}, 0, "2.00", 3},
		"until it is made up for":    {[]int64{50, 99, 100, 0}, 0, "0.50", 1},
		"that begins later":          {[]int64{100, 0}, 1, "1.00", 2},
		"at the end":                 {[]int64{100, 100, 100, 100, 100, 100, 100, 100, 100, 0}, 9, "1.00", 10},
	} {
		c := courseOf(10, func(c *course) {
			for i := range c.high {
				c.high[i], c.merged.Timeline.Answered[i] = 100, 100
			}
		}, answered(0, tc.answers...))
		missing, next := c.dipAt(tc.at)
		if got := fmt.Sprintf("%.2f", missing); got != tc.missing || next != tc.next {
			t.Errorf("%s: %s missing, then slot %d; want %s, %d", name, got, next, tc.missing, tc.next)
		}
	}
}

// Where answers dip all the time, a dip counts that is unlike the others.
func TestDipsThatAreLikeTheOthersDoNotCount(t *testing.T) {
	dipping := func(dips int, large ...int64) course {
		return courseOf(100, func(c *course) {
			for i := range c.high {
				c.high[i], c.merged.Timeline.Answered[i] = 100, 100
			}
			for i := range dips {
				c.merged.Timeline.Answered[4*i+1] = 50
			}
			copy(c.merged.Timeline.Answered[90:], large)
		})
	}
	for name, tc := range map[string]struct {
		course course
		want   time.Duration
	}{
		"none":                       {dipping(0), 0},
		"few":                        {dipping(9), 450 * ms},
		"many":                       {dipping(10), 0},
		"many, and one of two slots": {dipping(10, 0, 0), 0},
		"many, and a larger one":     {dipping(10, 0, 0, 1), 299 * ms},
	} {
		same.As(t, name+": dips of", tc.want, tc.course.dips())
	}
}

func TestTimesWithinWhichRequestsEnd(t *testing.T) {
	c := courseOf(10, took(map[time.Duration]int64{ms: 80, 2 * ms: 20}))
	for _, tc := range []struct {
		share   float64
		longest int64
		want    time.Duration
	}{{0.75, 0, ms}, {0.80, 0, ms}, {0.95, 0, 2 * ms}, {0.95, 20, ms}, {0.95, 100, ms}, {0.95, 1000, ms}, {0.999, 0, 2 * ms}} {
		if got := c.within(c.total.Service, tc.share, tc.longest); got != tc.want {
			t.Errorf("%g without %d: %v, want %v", tc.share, tc.longest, got, tc.want)
		}
	}
	if got := c.within(measure.NewHistogram(), 0.5, 0); got != 0 {
		t.Errorf("within %v of nothing", got)
	}
	for share, want := range map[float64]time.Duration{-1: 0, 0.25: 250 * ms, 1: time.Second, 7: time.Second} {
		if got := c.ofWindow(share); got != want {
			t.Errorf("%g of the window is %v, want %v", share, got, want)
		}
	}
	// Three times the p95 and 50 ms, or 1/200 of a long window; or twice the time of rare ones.
	if got := c.overlong(c.total.Service, 3, 0); got != 56*ms {
		t.Errorf("overlong from %v on, want 56ms", got)
	}
	c.merged.Window = 20 * time.Second
	if got := c.overlong(c.total.Service, 3, 20); got != 103*ms {
		t.Errorf("overlong from %v on, want 103ms", got)
	}
	if got := c.overlong(c.total.Service, 1, 0); got != 104*ms {
		t.Errorf("overlong from %v on, want 104ms", got)
	}
}

func TestWaitingIsTheUsersTime(t *testing.T) {
	users := func(waited time.Duration, failed, undecided int64) course {
		return courseOf(10, func(c *course) {
			c.merged.UserTime, c.merged.Waited = 10*time.Second, waited
			c.total.Sent, c.total.Expected, c.total.Undecided = 100, 100-failed-undecided, undecided
		})
	}
	for name, tc := range map[string]struct {
		course course
		want   time.Duration
	}{
		"none":                    {users(0, 0, 0), 0},
		"a tenth":                 {users(time.Second, 0, 0), 100 * ms},
		"in failures":             {users(time.Second, 10, 0), 99 * ms}, // of which each took 1 ms by itself
		"in undecided ones":       {users(time.Second, 0, 10), 100 * ms},
		"fast failures":           {users(10*ms, 10, 0), 0},
		"more than there was":     {users(time.Minute, 0, 0), time.Second},
		"of the least time":       {courseOf(10, func(c *course) { c.merged.UserTime, c.merged.Waited = 1, 1 }), time.Second},
		"no users whose time was": {courseOf(10, func(c *course) { c.merged.Waited = time.Second }), 0},
	} {
		same.As(t, name+": waited for", tc.want, tc.course.waiting())
	}
}

// A course has as many whole slots as the window of a step that ended early.
func TestSlotsOfACourse(t *testing.T) {
	length := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	for name, tc := range map[string]struct {
		load   v1beta1.StepLoad
		window time.Duration
		slot   time.Duration
		slots  int
	}{
		"whole":                        {v1beta1.StepLoad{Duration: length(20 * time.Second)}, 20 * time.Second, 100 * ms, 200},
		"cut":                          {v1beta1.StepLoad{Duration: length(20 * time.Second)}, 10*time.Second + 99*ms, 100 * ms, 100},
		"cut at once":                  {v1beta1.StepLoad{Duration: length(20 * time.Second)}, 99 * ms, 100 * ms, 0},
		"longer":                       {v1beta1.StepLoad{Duration: length(20 * time.Second)}, 30 * time.Second, 100 * ms, 200},
		"a burst":                      {v1beta1.StepLoad{Users: 1, RequestsPerUser: 1, MaxDuration: length(40 * time.Second)}, 10 * time.Second, 200 * ms, 50},
		"neither":                      {v1beta1.StepLoad{}, 2 * time.Second, 10 * ms, 200},
		"a burst without a limit":      {v1beta1.StepLoad{Users: 1, RequestsPerUser: 1}, 2 * time.Second, 10 * ms, 200},
		"a limit of what is no burst":  {v1beta1.StepLoad{Duration: length(20 * time.Second), MaxDuration: length(time.Hour)}, 20 * time.Second, 100 * ms, 200},
		"the shortest slots, cut":      {v1beta1.StepLoad{Duration: length(200)}, 100, 1, 100},
		"too few slots":                {v1beta1.StepLoad{Duration: length(20 * time.Second)}, 1999 * ms, 100 * ms, 19},
		"shorter than a slot can show": {v1beta1.StepLoad{}, 100, 0, 200},
	} {
		m := measure.NewMeasurement(1)
		m.Window, m.Timeline = tc.window, &measure.Timeline{}
		c := newCourse(&tc.load, m, &m.Requests[0])
		if c.slot != tc.slot || c.slots != tc.slots || (len(c.high) > 0) != (tc.slots >= 20) {
			t.Errorf("%s: %d slots of %v, %d of them high; want %d of %v", name, c.slots, c.slot, len(c.high), tc.slots, tc.slot)
		}
	}
}

// What a step must have for its downtime to be known.
func TestDowntimeThatIsKnown(t *testing.T) {
	users := v1beta1.StepLoad{Users: 1}
	for name, tc := range map[string]struct {
		load  v1beta1.StepLoad
		edit  func(*measure.Measurement)
		known bool
	}{
		"of arrivals":                        {v1beta1.StepLoad{}, func(m *measure.Measurement) { m.Window = 1 }, true},
		"without a window":                   {v1beta1.StepLoad{}, func(*measure.Measurement) {}, false},
		"without a course":                   {v1beta1.StepLoad{}, func(m *measure.Measurement) { m.Window, m.Timeline = 1, nil }, false},
		"of users":                           {users, func(m *measure.Measurement) { m.Window, m.UserTime = 1, 1 }, true},
		"of users, of whom no time is known": {users, func(m *measure.Measurement) { m.Window = 1 }, false},
	} {
		m := measure.NewMeasurement(1)
		m.Timeline = &measure.Timeline{}
		tc.edit(m)
		if _, ok := DowntimeOf(&tc.load, m); ok != tc.known {
			t.Errorf("%s: known: %t", name, ok)
		}
	}
}

// The time in which a worker did not run is left out, and no more than there is.
func TestDowntimeIsNotThatOfAWorker(t *testing.T) {
	for slots, length := range map[string]time.Duration{"few": time.Minute, "many": time.Second} {
		m := measure.NewMeasurement(1)
		m.Window, m.Timeline, m.UserTime, m.Waited = time.Second, &measure.Timeline{}, time.Second, 100*ms
		load := &v1beta1.StepLoad{Users: 1, Duration: &metav1.Duration{Duration: length}}
		for stalled, want := range map[time.Duration]time.Duration{0: 100 * ms, 40 * ms: 60 * ms, time.Second: 0} {
			m.Health.StalledMax = stalled
			if got, ok := DowntimeOf(load, m); !ok || got.Least != want || got.Most != 100*ms {
				t.Errorf("%s slots, stalled for %v: %+v, want %v at least", slots, stalled, got, want)
			}
		}
	}
}

func TestPercentOfDowntimeIsRounded(t *testing.T) {
	for least, want := range map[time.Duration]string{0: "0%", 1: "33.33%", 2: "66.67%", 3: "100%"} {
		if got := (Downtime{Least: least, Window: 3}).percent(); got != want {
			t.Errorf("%d of 3 is %s, want %s", least, got, want)
		}
	}
}

// The arithmetic of an advice has a result, however little there is to go by.
func TestAdviceOfTheLeast(t *testing.T) {
	if got := (fleet{desired: 1, active: 1}).enough(2, 1); got != 2 {
		t.Errorf("one of two done: %d workers, want 2", got)
	}
	if got := (fleet{}).usedEach(time.Second); got != time.Second {
		t.Errorf("without workers each used %v", got)
	}
	plain := raiseLimit(1, 1, false)
	for name, got := range map[string]string{"nothing used": raiseLimit(0, 1, true), "it never ran": raiseLimit(1, 0, true)} {
		if got != plain {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := raiseLimit(1, 1, true); got != "Raise spec.worker.resources.limits.cpu to 1000m, or leave it out." {
		t.Errorf("used all the time: %s", got)
	}
	m := measure.NewMeasurement(1)
	m.Window, m.Health.CPUThrottledMax = 1, 5
	if reason, _, _ := hindered(m, fleet{active: 1}, 0); reason != v1beta1.ReasonCPUThrottled {
		t.Errorf("of the shortest window: %q", reason)
	}
	if got := (contract{refill: 999_999_999_999_999}).refilled(-1); got != 0 {
		t.Errorf("%d refilled before", got)
	}
	if got := cpus(0, time.Second); got != "50m" {
		t.Errorf("no CPU is %s", got)
	}
	m.Window = 2
	if got := (fleet{desired: 1, active: 1}).punctual(m, 1); got != 2 {
		t.Errorf("behind by half of the window: %d workers, want 2", got)
	}
}

func TestCauseOfADelayByTheSmallest(t *testing.T) {
	step := &v1beta1.StepStatus{Name: "s"}
	for name, tc := range map[string]struct {
		sent, read, pause time.Duration
		want              string
	}{
		"a pause alone":           {0, 0, 1, "the garbage collector"},
		"a pause of half as long": {2 * ms, 0, ms, "the garbage collector"},
		"a pause of less":         {2 * ms, 0, ms - 1, "requests were sent up to 2ms"},
		"sent as late as read":    {ms, ms, 0, "requests were sent up to 1ms"},
		"read later":              {ms, 2 * ms, 0, "responses were read up to 2ms"},
		"nothing":                 {0, 0, 0, ""},
	} {
		m := measure.NewMeasurement(1)
		m.Window, m.Health.GCPauseMax = time.Second, tc.pause
		m.Lateness.Record(tc.sent)
		m.ReadLateness.Record(tc.read)
		if reason, got := Delay(1, step, m); !strings.Contains(got, tc.want) || (reason == "") != (tc.want == "") {
			t.Errorf("%s: %s: %q, want %q", name, reason, got, tc.want)
		}
	}
}

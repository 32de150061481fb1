package local_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// places is a target that serves so many requests at once, each for the same time, in the
// order in which they come: it has a known limit of n/service. When a place is free again
// is computed and not awaited, so that the limit does not depend on how late this machine
// wakes a sleeper.
type places struct {
	service time.Duration

	mu     sync.Mutex
	freeAt []time.Time

	answered, late atomic.Int64
}

// longestWait is for how long a request waits at most; one that would wait longer is
// refused. What one probe has left behind is done soon after it.
const longestWait = 2 * time.Second

func newPlaces(t *testing.T, n int, service time.Duration) (p *places, url string) {
	t.Helper()
	p = &places{service: service, freeAt: make([]time.Time, n)}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, s.URL
}

// ServeHTTP answers when the request has been served.
func (p *places) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	served, ok := p.take(time.Now())
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	<-time.After(time.Until(served))
	p.answered.Add(1)
	if time.Since(served) > tolerance/3 {
		p.late.Add(1)
	}
}

// isBusy says that this machine kept the target from its law: one in a hundred of its
// answers was late, so that in one probe many may have been.
func (p *places) isBusy() bool { return p.late.Load()*100 > p.answered.Load() }

// take takes the place that is free first, and returns when the request is served there.
func (p *places) take(now time.Time) (served time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := &p.freeAt[0]
	for i := range p.freeAt {
		if p.freeAt[i].Before(*first) {
			first = &p.freeAt[i]
		}
	}
	begins := now
	if first.After(now) {
		begins = *first
	}
	if begins.Sub(now) > longestWait {
		return now, false
	}
	*first = begins.Add(p.service)
	return *first, true
}

// tolerance is how much longer than its service a request may take: what lies between the
// knee, from which on requests wait, and the load at which the threshold is breached.
const tolerance = 150 * time.Millisecond

const ms = time.Millisecond

// knee is a search for the limit of a target with so many places.
type knee struct {
	places  int
	service time.Duration
	search  string
	// load is a step with the load that was found.
	load string
	// most is the load at which the threshold is breached, by the law of the queue; the knee
	// is a load at which no request has to wait.
	knee, most float64
}

// At a constant rate r above the limit c, the wait after a time t is (r/c - 1)*t, and 90%
// of a probe of 4 s are before 3.6 s.
var overload = 1 + tolerance.Seconds()/3.6

var knees = map[string]knee{
	"40/s":  {places: 8, service: 200 * ms, search: "{rate: {min: 15, max: 160}, duration: 4s, rest: 1s, precision: 10%}", load: `rate: "%s"`, knee: 40, most: 40 * overload},
	"200/s": {places: 20, service: 100 * ms, search: "{rate: {min: 60, max: 800}, duration: 4s, rest: 1s, precision: 10%}", load: `rate: "%s"`, knee: 200, most: 200 * overload},
	// As many users as places; with more, a request takes users/limit on average.
	"6 users": {places: 6, service: 500 * ms, search: "{users: {min: 3, max: 20}, duration: 4s, rest: 1s}", load: "users: %s", knee: 6, most: 6 * 650. / 500},
	// 20 / 200ms is 100/s: 50 users with 2/s each.
	"50 users with a rate": {places: 20, service: 200 * ms, search: "{users: {min: 15, max: 200}, ratePerUser: 2, duration: 4s, rest: 1s, precision: 10%}", load: "users: %s, ratePerUser: 2", knee: 50, most: 50 * overload},
	// A user is served for a fifth of its time: 60 users for 12 places.
	"60 users who think": {places: 12, service: 400 * ms, search: "{users: {min: 15, max: 120}, think: {min: 1600ms, max: 1600ms}, warmUp: 2s, duration: 4s, rest: 1s, precision: 10%}", load: "users: %s, think: {min: 1600ms, max: 1600ms}, warmUp: 2s", knee: 60, most: 12 * 2150. / 400},
}

// TestSearchFindsKnownKnees: the interval that a search finds holds the limit that the
// target has by construction, and the target keeps what was found for 60 s more, in another
// run. Each search is made four times. The five searches of a round run at once, since they
// mostly wait. The test prints a line for each search and each run.
func TestSearchFindsKnownKnees(t *testing.T) {
	if os.Getenv("FULL") == "" {
		t.Skip("it takes a quarter of an hour: run make bench-search")
	}
	const rounds = 4
	var searches, right, kept atomic.Int64
	for round := range rounds {
		t.Run(fmt.Sprint("round ", round+1), func(t *testing.T) {
			for name, k := range knees {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					searches.Add(1)
					target, url := newPlaces(t, k.places, k.service)
					found := k.run(t, url, "search: "+k.search)
					if k.holds(t, name, target, found) {
						right.Add(1)
					}
					again := k.run(t, url, "steps: [{"+fmt.Sprintf(k.load, found.Status.Search.Low)+", duration: 60s}]")
					fmt.Printf("held: %s: %s for 60 s: %s: %s\n", name, found.Status.Search.Low, again.Status.Verdict, again.Status.Thresholds[0].Message)
					if again.Status.Verdict == v1beta1.VerdictPassed && (again.Status.MaxSustainedUsers != nil || again.Status.MaxSustainedRate != "") {
						kept.Add(1)
					}
				})
			}
		})
	}
	n := searches.Load()
	fmt.Printf("bench-search: right=%d/%d kept=%d/%d\n", right.Load(), n, kept.Load(), n)
	if right.Load()*20 < 19*n || kept.Load()*20 < 19*n {
		t.Errorf("of %d searches the interval of %d held the truth, and what %d found was kept; want 19 of 20", n, right.Load(), kept.Load())
	}
}

// run runs a LoadTest with that load.
func (k knee) run(t *testing.T, url, load string) *v1beta1.LoadTest {
	t.Helper()
	spec := fmt.Sprintf("{target: {url: TARGET}, requests: [{name: home, http: {path: /}}], thresholds: [{metric: p90, max: %v}], %s}", k.service+tolerance, load)
	c := config(t)
	c.Say = func(string) {} // five speak at once
	lt := carryOut(t, loadTest(t, url, spec), c)
	return lt
}

// holds compares what was found with the truth: both intervals overlap.
func (k knee) holds(t *testing.T, name string, target *places, found *v1beta1.LoadTest) bool {
	t.Helper()
	s, status := found.Status.Search, &found.Status
	if s == nil {
		t.Fatalf("nothing was searched: %s", status.Verdict)
	}
	late := ""
	if target.isBusy() {
		late = "; the target answered later than its law, since the machine was busy"
	}
	fmt.Printf("knee: %s: truth %.1f to %.1f, found %s to %s in %d steps, %s, %s%s\n", name, k.knee, k.most, s.Low, s.High, len(status.Steps), s.State, status.Verdict, late)
	return s.State == v1beta1.SearchFound && status.Verdict == v1beta1.VerdictPassed && bound(t, s.Low) <= k.most && k.knee <= bound(t, s.High)
}

// bound is an end of the interval.
func bound(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	must.Succeed(t, err)
	return n
}

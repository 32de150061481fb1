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

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
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

// knee is a search for the limit of a target with so many places.
type knee struct {
	places  int
	service time.Duration
	search  string
	// most is the load at which the threshold is breached, by the law of the queue; the knee
	// is a load at which no request has to wait.
	knee, most float64
}

// At a constant rate r above the limit c, the wait after a time t is (r/c - 1)*t, and 90%
// of a probe of 4 s are before 3.6 s.
var overload = 1 + tolerance.Seconds()/3.6

var knees = map[string]knee{
	"40/s":  {places: 8, service: 200 * ms, search: "{rate: {min: 15, max: 160}, duration: 4s, rest: 1s, precision: 10%}", knee: 40, most: 40 * overload},
	"200/s": {places: 20, service: 100 * ms, search: "{rate: {min: 60, max: 800}, duration: 4s, rest: 1s, precision: 10%}", knee: 200, most: 200 * overload},
	// As many users as places; with more, a request takes users/limit on average.
	"6 users": {places: 6, service: 500 * ms, search: "{users: {min: 3, max: 20}, duration: 4s, rest: 1s}", knee: 6, most: 6 * 650. / 500},
	// 20 / 200ms is 100/s: 50 users with 2/s each.
	"50 users with a rate": {places: 20, service: 200 * ms, search: "{users: {min: 15, max: 200}, ratePerUser: 2, duration: 4s, rest: 1s, precision: 10%}", knee: 50, most: 50 * overload},
	// A user is served for a fifth of its time: 60 users for 12 places.
	"60 users who think": {places: 12, service: 400 * ms, search: "{users: {min: 15, max: 120}, think: 1600ms, warmUp: 2s, duration: 4s, rest: 1s, precision: 10%}", knee: 60, most: 12 * 2150. / 400},
}

const ms = time.Millisecond

// TestSearchFindsKnownKnees: the interval that a search finds holds the limit that the
// target has by construction. All searches run at once, since they mostly wait; it prints
// a line for each.
func TestSearchFindsKnownKnees(t *testing.T) {
	if os.Getenv("FULL") == "" {
		t.Skip("it takes minutes: run make bench-search")
	}
	found := map[string]<-chan searched{}
	for name, k := range knees {
		found[name] = k.find(t)
	}
	for name, k := range knees {
		t.Run(name, func(t *testing.T) {
			const tries = 2
			for try := range tries {
				if k.judge(t, name, <-found[name]) {
					return
				}
				if try+1 < tries {
					found[name] = k.find(t)
				}
			}
			t.Error("this machine is too busy to say")
		})
	}
}

// searched is what a search ended with.
type searched struct {
	target *places
	lt     *v1alpha1.LoadTest
	err    error
}

// find begins the search.
func (k knee) find(t *testing.T) <-chan searched {
	t.Helper()
	spec := fmt.Sprintf("{target: {url: TARGET}, requests: [{path: /}], thresholds: [{metric: p90, max: %v}], search: %s}", k.service+tolerance, k.search)
	p, url := newPlaces(t, k.places, k.service)
	lt, c, found := loadTest(t, url, spec), config(t), make(chan searched, 1)
	c.Say = func(string) {} // the test may be over
	go func() {
		lt, err := local.Run(t.Context(), lt, c)
		found <- searched{p, lt, err}
	}()
	return found
}

// judge compares what was found with the truth. It is false when the machine was too busy
// for a result.
func (k knee) judge(t *testing.T, name string, found searched) bool {
	t.Helper()
	if found.err != nil || found.lt.Status.Search == nil {
		t.Fatalf("nothing was searched: %v", found.err)
	}
	s, status := found.lt.Status.Search, &found.lt.Status
	fmt.Printf("knee: %s: truth %.1f to %.1f, found %s to %s in %d steps, %s\n", name, k.knee, k.most, s.Low, s.High, len(status.Steps), s.State)
	busy := found.target.isBusy() || meta.IsStatusConditionFalse(status.Conditions, v1alpha1.ConditionGeneratorHealthy)
	holds := s.State == v1alpha1.SearchFound && status.Verdict == v1alpha1.VerdictPassed && bound(t, s.Low) <= k.most && k.knee <= bound(t, s.High)
	switch {
	case !holds && busy:
		t.Logf("the machine was busy: %s", s.Message)
		return false
	case !holds:
		t.Errorf("verdict %s, %s: the interval from %s to %s does not hold the truth, %.1f to %.1f. %s", status.Verdict, s.State, s.Low, s.High, k.knee, k.most, s.Message)
	}
	return true
}

// bound is an end of the interval.
func bound(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

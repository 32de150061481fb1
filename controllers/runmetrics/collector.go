package runmetrics

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// Collector shows the metrics of LoadTests.
type Collector struct {
	// Log is told when LoadTests are left out, and when none is any more. Default: no log.
	Log logr.Logger
	// Leads is closed once this process leads: of two replicas only one shows LoadTests.
	Leads <-chan struct{}
	// List lists the LoadTests that are known, which it does not change. They need no
	// steps if they have finished.
	List func() ([]v1beta1.LoadTest, error)
	// Observe is the measurement of the step of a run that runs; nil: there is none.
	Observe func(types.UID) *exchange.Report
	// Most is how many LoadTests have series.
	Most int
	// MostRequests is how many requests of all these together have series.
	MostRequests int

	mu      sync.Mutex
	tallies map[types.UID]*tally
	// omits and omitsRequests say that some have no series, as was logged.
	omits, omitsRequests bool
}

var _ prometheus.Collector = &Collector{}

// Describe describes the metrics.
func (c *Collector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range all {
		descriptions <- d
	}
}

// Finished keeps the load of a run whose last status this is. The load of a run that
// finished before this process led is not known.
func (c *Collector) Finished(uid types.UID, s *v1beta1.LoadTestStatus) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally(uid).follow(s, nil)
	// Those of deleted LoadTests are dropped when metrics are collected, which they may
	// never be.
	if len(c.tallies) > 2*c.Most {
		if known, err := c.List(); err == nil {
			c.drop(known)
		}
	}
}

// Collect sends the metrics of all LoadTests that are known.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	select {
	case <-c.Leads:
	default:
		return
	}
	known, err := c.List()
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(leftOut, err)
		return
	}
	known = slices.DeleteFunc(known, func(lt v1beta1.LoadTest) bool { return !lt.DeletionTimestamp.IsZero() })
	slices.SortFunc(known, byImportance)
	n := min(len(known), max(c.Most, 0))
	live := c.observe(known[:n])
	p := page{}
	c.mu.Lock()
	c.drop(known)
	var requests []candidate
	for i := range known[:n] {
		if t := c.show(&p, &known[i], live); t != nil {
			requests = append(requests, t.requests.candidates(i, isFinished(&known[i]))...)
		}
	}
	shown := within(requests, c.MostRequests)
	for i := range shown {
		p.of(&known[shown[i].test])
		p.request(shown[i].part)
	}
	c.tell(len(known)-n, len(requests)-len(shown))
	c.mu.Unlock()
	for _, m := range p.metrics {
		metrics <- m
	}
	metrics <- prometheus.MustNewConstMetric(leftOut, prometheus.GaugeValue, float64(len(known)-n))
	metrics <- prometheus.MustNewConstMetric(requestsLeftOut, prometheus.GaugeValue, float64(len(requests)-len(shown)))
}

// observe merges what workers have measured, which takes long: no lock is held.
func (c *Collector) observe(known []v1beta1.LoadTest) map[types.UID]*exchange.Report {
	live := map[types.UID]*exchange.Report{}
	for i := range known {
		if lt := &known[i]; lt.Status.Phase == v1beta1.PhaseRunning {
			live[lt.UID] = c.Observe(lt.UID)
		}
	}
	return live
}

// show adds a LoadTest's metrics, those of its requests left out, and returns its load, if that
// is known. The mutex is held.
func (c *Collector) show(p *page, lt *v1beta1.LoadTest, live map[types.UID]*exchange.Report) *tally {
	p.of(lt)
	p.state(lt)
	t, ok := c.tallies[lt.UID]
	if !isFinished(lt) && lt.Status.StartTime != nil {
		t, ok = c.tally(lt.UID), true
		t.follow(&lt.Status, live[lt.UID])
	}
	if !ok {
		return nil
	}
	p.load(t.load())
	p.step(t)
	return t
}

// tally is that of a run. The mutex is held.
func (c *Collector) tally(uid types.UID) *tally {
	if c.tallies == nil {
		c.tallies = map[types.UID]*tally{}
	}
	t, ok := c.tallies[uid]
	if !ok {
		t = &tally{}
		c.tallies[uid] = t
	}
	return t
}

// drop removes the runs that are not there any more. The mutex is held.
func (c *Collector) drop(known []v1beta1.LoadTest) {
	keep := make(map[types.UID]bool, len(known))
	for i := range known {
		keep[known[i].UID] = true
	}
	for uid := range c.tallies {
		if !keep[uid] {
			delete(c.tallies, uid)
		}
	}
}

// tell logs that LoadTests, or requests, are left out, once, and that none is any more.
func (c *Collector) tell(left, requests int) {
	if omits := left > 0; omits != c.omits {
		c.omits = omits
		c.Log.Info("LoadTests have no series in the metrics", "leftOut", left, "max", c.Most)
	}
	if omits := requests > 0; omits != c.omitsRequests {
		c.omitsRequests = omits
		c.Log.Info("Requests have no series in the metrics", "leftOut", requests, "max", c.MostRequests)
	}
}

// byImportance is the order in which LoadTests have series: those that run, those that
// have not finished, and the others from the one that finished last.
func byImportance(a, b v1beta1.LoadTest) int {
	return cmp.Or(
		cmp.Compare(class(&a), class(&b)),
		ended(&b).Compare(ended(&a)),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
	)
}

func class(lt *v1beta1.LoadTest) int {
	switch {
	case isFinished(lt):
		return 2
	case lt.Status.StartTime != nil:
		return 0
	default:
		return 1
	}
}

// ended is when a run finished; zero: it has not.
func ended(lt *v1beta1.LoadTest) time.Time {
	if lt.Status.CompletionTime == nil {
		return time.Time{}
	}
	return lt.Status.CompletionTime.Time
}

func isFinished(lt *v1beta1.LoadTest) bool { return lt.Status.Verdict != "" }

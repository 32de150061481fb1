package runmetrics

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// page is the metrics that are shown, those of one LoadTest after another.
type page struct {
	metrics []prometheus.Metric
	// namespace and name are those of the LoadTest that is added, and begun is since when
	// its counters count.
	namespace, name string
	begun           time.Time
}

// of begins with a LoadTest.
func (p *page) of(lt *v1beta1.LoadTest) {
	p.namespace, p.name, p.begun = lt.Namespace, lt.Name, lt.CreationTimestamp.Time
	if lt.Status.StartTime != nil {
		p.begun = lt.Status.StartTime.Time
	}
}

func (p *page) labels(more []string) []string { return append([]string{p.namespace, p.name}, more...) }

func (p *page) gauge(d *prometheus.Desc, value float64, labels ...string) {
	p.metrics = append(p.metrics, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, p.labels(labels)...))
}

func (p *page) counter(d *prometheus.Desc, value int64, labels ...string) {
	m, err := prometheus.NewConstMetricWithCreatedTimestamp(d, prometheus.CounterValue, float64(value), p.begun, p.labels(labels)...)
	p.add(m, d, err)
}

func (p *page) add(m prometheus.Metric, d *prometheus.Desc, err error) {
	if err != nil {
		m = prometheus.NewInvalidMetric(d, err)
	}
	p.metrics = append(p.metrics, m)
}

// state adds what every LoadTest has.
func (p *page) state(lt *v1beta1.LoadTest) {
	s := &lt.Status
	p.gauge(created, seconds(&lt.CreationTimestamp))
	if s.StartTime != nil {
		p.gauge(started, seconds(s.StartTime))
	}
	if s.CompletionTime != nil {
		p.gauge(completed, seconds(s.CompletionTime))
	}
	is := s.Phase
	if is == "" {
		is = v1beta1.PhasePending
	}
	for _, value := range v1beta1.Phases() {
		p.gauge(phase, one(value == is), string(value))
	}
	for _, value := range v1beta1.Verdicts() {
		p.gauge(verdict, one(value == s.Verdict), string(value))
	}
	reason := ""
	if c := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionGeneratorHealthy); c != nil && c.Status == metav1.ConditionFalse {
		reason = c.Reason
	}
	for _, value := range limits {
		p.gauge(limited, one(value == reason), value)
	}
	w := s.Workers
	p.gauge(workers, float64(w.Desired), "desired")
	p.gauge(workers, float64(w.Ready), "ready")
	p.gauge(workers, float64(w.Silent), "silent")
	p.gauge(workers, float64(w.Lost), "lost")
}

// load adds what a run has sent and measured.
func (p *page) load(l *load) {
	p.counter(requestsDue, l.counts[due])
	p.counter(requestsSent, l.counts[sent])
	p.counter(requestsExpected, l.counts[expected])
	p.counter(requestsLate, l.counts[late])
	if l.counts[events] > 0 {
		p.counter(streamEvents, l.counts[events])
	}
	for o := range measure.NumOutcomes {
		p.counter(requests, l.counts[outcomes+o], measure.Outcome(o).String())
	}
	var h histogram
	var err error
	if h.classic, err = p.classic(l); err == nil {
		h.native, err = p.native(l)
	}
	p.add(h, responseTime, err)
}

func (p *page) classic(l *load) (prometheus.Metric, error) {
	cumulative := map[float64]uint64{}
	var count uint64
	for i := range classic {
		count += uint64(l.counts[buckets+i])
		if i < len(bounds) {
			cumulative[bounds[i].Seconds()] = count
		}
	}
	return prometheus.NewConstHistogramWithCreatedTimestamp(responseTime, count, l.seconds, cumulative, p.begun, p.namespace, p.name)
}

func (p *page) native(l *load) (prometheus.Metric, error) {
	positive := map[int]int64{}
	count := l.counts[zero]
	for i, n := range l.counts[natives:] {
		if n > 0 {
			positive[lowest+i] = n
			count += n
		}
	}
	threshold := measure.Lowest.Seconds() / 2
	return prometheus.NewConstNativeHistogram(responseTime, uint64(count), l.seconds, positive, nil, uint64(l.counts[zero]), schema, threshold, p.begun, p.namespace, p.name)
}

// step adds where a run is, and what it measured last.
func (p *page) step(t *tally) {
	p.gauge(steps, float64(t.all))
	p.gauge(stepNumber, float64(t.number))
	now := v1beta1.StepLoad{}
	if t.latest.State == v1beta1.StepRunning {
		now = t.latest.Load
	}
	p.gauge(users, float64(now.LastUsers()))
	p.gauge(plannedRate, rate(&now))
	r := t.latest.Result
	if r == nil {
		return
	}
	p.text(goodput, r.Goodput, 1)
	p.percentiles(percentiles, r.ResponseTime)
	p.streams(r.Streams)
	if g := r.Generator; g != nil {
		p.duration(sendLateness, g.SendLatenessP99)
		p.share(throttled, g.CPUThrottled)
		p.share(runQueueWait, g.RunQueueWait)
	}
}

// request adds what was sent of one, by name, and what came of it. The outcomes that did not
// occur have no series: they would be most series of all.
func (p *page) request(of *part) {
	counts := of.counts()
	p.counter(requestSent, counts[partSent], of.label)
	p.counter(requestFailed, counts[partFailed], of.label)
	for o, n := range counts[partOutcomes:] {
		if n > 0 {
			p.counter(requestOutcomes, n, of.label, measure.Outcome(o).String())
		}
	}
	p.percentiles(requestPercentiles, of.times, of.label)
}

// percentiles adds those that are known.
func (p *page) percentiles(d *prometheus.Desc, l *v1beta1.Latency, labels ...string) {
	if l == nil {
		return
	}
	for _, name := range []v1beta1.Metric{"p50", "p90", "p95", "p99", "p99.9"} {
		p.duration(d, *metric.Of(name).Times().Field(l), append(labels, string(name))...)
	}
}

// streams adds the percentiles of the times of streams that are known.
func (p *page) streams(s *v1beta1.StreamsResult) {
	if s == nil {
		return
	}
	for _, of := range metric.StreamTimes() {
		if times := *of.Field(s); times != nil {
			p.duration(streamTimes, times.P50, string(of.Name), "p50")
			p.duration(streamTimes, times.P95, string(of.Name), "p95")
			p.duration(streamTimes, times.P99, string(of.Name), "p99")
		}
	}
}

// duration adds a time that is known.
func (p *page) duration(d *prometheus.Desc, value *metav1.Duration, labels ...string) {
	if value != nil {
		p.gauge(d, value.Seconds(), labels...)
	}
}

// text adds a number of the status, which stands there as text, divided.
func (p *page) text(d *prometheus.Desc, value string, by float64) {
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		p.gauge(d, n/by)
	}
}

// share adds a share of the status. What is "<0.01%" there counts as 0.01 %: a series that ends for it
// would seem to have no value.
func (p *page) share(d *prometheus.Desc, percent string) {
	p.text(d, strings.Trim(percent, "<>%"), 100)
}

// rate is how many requests per second a load plans; 0 if that is not known.
func rate(l *v1beta1.StepLoad) float64 {
	switch {
	case l.Sessions != nil:
		return 0
	case l.Rate != nil && l.RampTo != nil:
		return number(l.RampTo)
	case l.Rate != nil:
		return number(l.Rate)
	case l.RatePerUser != nil:
		return number(l.RatePerUser) * float64(l.LastUsers())
	default:
		return 0
	}
}

func number(d *v1beta1.Decimal) float64 {
	n, err := strconv.ParseFloat(d.String(), 64)
	if err != nil {
		return 0 // not planned by any operator
	}
	return n
}

func seconds(t *metav1.Time) float64 { return float64(t.Unix()) }

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// histogram is one with classic and native buckets.
type histogram struct {
	classic, native prometheus.Metric
}

var _ prometheus.Metric = histogram{}

// Desc describes it.
func (h histogram) Desc() *prometheus.Desc { return h.classic.Desc() }

// Write writes both kinds of buckets into one histogram.
func (h histogram) Write(m *dto.Metric) error {
	if err := h.classic.Write(m); err != nil {
		return err
	}
	var native dto.Metric
	if err := h.native.Write(&native); err != nil {
		return err
	}
	to, from := m.Histogram, native.Histogram
	to.Schema, to.ZeroThreshold, to.ZeroCount = from.Schema, from.ZeroThreshold, from.ZeroCount
	to.PositiveSpan, to.PositiveDelta = from.PositiveSpan, from.PositiveDelta
	return nil
}

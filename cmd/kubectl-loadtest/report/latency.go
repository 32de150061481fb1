package report

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
)

// columnWidth is that of a distribution.
const columnWidth = 34

// latency has a third column, the response time without the generator's own delay, if that
// is visible.
func (p *page) latency(title string, response, service, without *v1beta1.Latency) {
	if service == nil {
		service = &v1beta1.Latency{}
	}
	times, brackets := Quantiles(service), Brackets(response, without)
	third := func(string) string { return "" }
	if areVisible(brackets) {
		third = func(text string) string { return text }
	}
	p.row(title, "%-*s%-*s%s", columnWidth, "response time (from when due)", columnWidth, "service time (from when sent)", third("response time without the generator's own delay"))
	for i, b := range brackets {
		p.row("  "+b.Name, "%-*s%-*s%s", columnWidth, precise(b.Time), columnWidth, precise(times[i].Time), third(precise(b.Without)))
	}
}

// Quantile is a figure of a distribution of times; nil where its samples are too
// few.
type Quantile struct {
	Name string
	Time *metav1.Duration
}

// Quantiles are the figures of a distribution, from the shortest time to the
// longest.
func Quantiles(l *v1beta1.Latency) []Quantile {
	list := []Quantile{{"min", l.Min}, {"mean", l.Mean}}
	for _, q := range metric.Quantiles() {
		list = append(list, Quantile{string(q.Name), *q.Times().Field(l)})
	}
	return append(list, Quantile{"longest", l.Longest})
}

// TooFew stands where a quantile has too few samples behind it.
const TooFew = "too few samples"

// precise is a time with all digits that a histogram of microseconds has. All of a
// kind have their point in one column.
func precise(d *metav1.Duration) string {
	switch t, ok := duration(d); {
	case !ok:
		return TooFew
	case t < time.Second:
		return fmt.Sprintf("%7.3fms", float64(t)/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%10.6fs", t.Seconds())
	}
}

package verdict

import (
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
)

// queried is what the administrator's Prometheus answered to the query of the threshold. Without an
// answer the threshold can be neither kept nor breached.
func (s sample) queried() observation {
	i := slices.IndexFunc(s.step.Queries, func(q v1beta1.QueryResult) bool { return q.Name == s.threshold.Query })
	if i < 0 {
		return unknown("%s cannot be judged: no Prometheus was asked.", s.place())
	}
	q := &s.step.Queries[i]
	if q.Problem != "" {
		return unknown("%s cannot be judged. %s", s.place(), q.Problem)
	}
	value, err := metric.Number.Parse(q.Value)
	if err != nil {
		return unknown("%s cannot be judged: its answer has no value.", s.place())
	}
	return certain(value)
}

package metric

import (
	"math/big"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// Quantity is a metric of all requests, or of the requests of one type.
type Quantity struct {
	Metric v1alpha1.Metric
	// Type is the type of request; "": all.
	Type string
}

// Value is that of a quantity in the result of a step; nil: it has none.
func Value(q Quantity, result *v1alpha1.StepResult) *big.Rat {
	m := Of(q.Metric)
	switch {
	case m.inResult == nil:
		return nil
	case q.Type == "":
		return m.inResult(result)
	case m.byType == nil:
		return nil
	}
	for i := range result.Types {
		if t := &result.Types[i]; t.Name == q.Type {
			return m.byType(&t.Counts, t.ResponseTime)
		}
	}
	return nil
}

// IsByType says whether the metric is known of each type of request.
func (m Metric) IsByType() bool { return m.byType != nil }

// Figures are the values of all metrics in the result of a step, and those by type that
// are asked for.
func Figures(result *v1alpha1.StepResult, byType []Quantity) []v1alpha1.Figure {
	var list []v1alpha1.Figure
	add := func(q Quantity) {
		if value := Value(q, result); value != nil {
			f := v1alpha1.Figure{Metric: q.Metric, Type: q.Type, Value: Text(q.Metric, value)}
			if ideal := Ideal(q, result); ideal != nil && ideal.Cmp(value) != 0 {
				f.WithoutGenerator = Text(q.Metric, ideal)
			}
			if late := LateTogether(q, result); late.Sign() > 0 {
				f.LateTogether = Text(q.Metric, late)
			}
			list = append(list, f)
		}
	}
	for i := range table {
		add(Quantity{Metric: table[i].Name})
	}
	for _, q := range byType {
		add(q)
	}
	return list
}

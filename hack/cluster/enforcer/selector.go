package enforcer

import "slices"

// selector is a label selector. The empty one selects everything.
type selector struct {
	MatchLabels      map[string]string `json:"matchLabels"`
	MatchExpressions []expression      `json:"matchExpressions"`
}

type expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

func (s selector) selects(labels map[string]string) bool {
	for key, want := range s.MatchLabels {
		if value, ok := labels[key]; !ok || value != want {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		if !e.holds(labels) {
			return false
		}
	}
	return true
}

// holds is false of an operator that is not known: who allows by mistake is
// noticed later than who refuses.
func (e expression) holds(labels map[string]string) bool {
	value, ok := labels[e.Key]
	switch e.Operator {
	case "In":
		return ok && slices.Contains(e.Values, value)
	case "NotIn":
		return !ok || !slices.Contains(e.Values, value)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	}
	return false
}

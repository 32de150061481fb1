package policy_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestPrioritiesOfNamespaces(t *testing.T) {
	p, err := policy.Load([]byte(`
priorityClasses:
  - {name: release-gate, value: 100, namespaces: ["release-*"]}
  - {name: release-gate, value: 10}
  - {name: nightly, value: -5, namespaces: [team-a]}
`))
	must.Succeed(t, err)
	for _, tt := range []struct {
		namespace, class string
		value            int32
		ok               bool
	}{
		{"team-a", "", 0, true},
		{"team-a", "release-gate", 10, true},
		{"release-eu", "release-gate", 100, true},
		{"team-a", "nightly", -5, true},
		{"team-b", "nightly", 0, false},
		{"team-b", "urgent", 0, false},
	} {
		if value, ok := p.For(tt.namespace).Priorities.Value(tt.class); value != tt.value || ok != tt.ok {
			t.Errorf("%s, %q: %d (%t), want %d (%t)", tt.namespace, tt.class, value, ok, tt.value, tt.ok)
		}
	}
	same.As(t, "the classes of team-a", "release-gate, nightly", p.For("team-a").Priorities.Names())
	if _, ok := (policy.Rules{}).Priorities.Value("any"); !ok {
		t.Error("without a queue a class is refused")
	}
	if _, err := policy.Load([]byte("priorityClasses: [{value: 1}]")); err == nil || err.Error() != "priorityClasses[0].name: must be set; LoadTests name it in spec.queue.priorityClass" {
		t.Errorf("a class without a name: %v", err)
	}
}

package samples

import (
	"fmt"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// installed are the values with which the target of an experiment is installed.
func installed(t *testing.T, e experiment.Experiment) values {
	t.Helper()
	v := readValues(t, charts+"values-"+e.Preset+".yaml")
	for _, text := range manifest.Sets(e.Set) {
		var set map[string]any
		must.Succeed(t, yaml.Unmarshal(text, &set))
		v = merge(v, set)
	}
	return v
}

// rendered are the load tests of an experiment's overlay.
func rendered(t *testing.T, e experiment.Experiment) *manifest.Manifest {
	t.Helper()
	text, err := apiserver.Kustomize(t.Context(), "seeds/"+e.Name)
	must.Succeed(t, err)
	m, err := manifest.Parse(text)
	must.Succeed(t, err)
	return m
}

// says compares what a load test expects of its target with what values say, and
// returns what differs.
func says(v values, lt *v1beta1.LoadTest) (differ []string) {
	for _, want := range lt.Spec.Preflight[0].Expect.JSON {
		if value, known := about[string(want.Path)]; !known {
			differ = append(differ, fmt.Sprintf("nothing is known of %s", want.Path))
		} else if got := fmt.Sprint(value(v)); got != want.Text() {
			differ = append(differ, fmt.Sprintf("%s is %s, not %s", want.Path, got, want.Text()))
		}
	}
	return differ
}

// Each load test of an overlay takes the target of its experiment, and no other target.
func TestOverlaysAskForTheirVariant(t *testing.T) {
	for _, e := range experiment.All() {
		m := rendered(t, e)
		for i := range m.LoadTests {
			lt := &m.LoadTests[i]
			for _, other := range experiment.Of(e.Seed()) {
				differ := says(installed(t, other), lt)
				// Two experiments may differ in what is sent alone.
				own := reflect.DeepEqual(installed(t, other), installed(t, e))
				if own && len(differ) > 0 {
					t.Errorf("%s/%s refuses its own target: %v", e.Name, lt.Name, differ)
				} else if !own && len(differ) == 0 {
					t.Errorf("%s/%s takes the target of %s for its own", e.Name, lt.Name, other.Name)
				}
			}
		}
	}
}

// Everything that was published is run: no experiment stops at a breach, and its ladder
// has the published rungs.
func TestOverlaysRunEveryPublishedRung(t *testing.T) {
	rungs := map[string][]int32{
		"tiny-bitly-writes": {100, 1000, 10000, 25000, 50000, 100000},
		"tiny-bitly-reads":  {100, 1000, 10000, 25000},
		"sharded-reads":     {50}, "sharded-sustained": nil,
		"flask-users":     {1, 20, 100, 200},
		"events-position": {50}, "events-append": {50, 20}, "events-range": {50},
		"events-batch-10": {20}, "events-optimal": {50}, "events-batch-100": {50}, "events-batch-500": {20}, "events-batch-1000": {1},
		"single-client-burst": {50}, "five-clients": {25}, "burst-then-steady": {30},
	}
	for _, e := range experiment.All() {
		m := rendered(t, e)
		for _, name := range e.Tests {
			lt, err := m.Named(name)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			same.As(t, fmt.Sprintf("%s/%s: users", e.Name, name), rungs[name], users(&lt.Spec))
			if stops := lt.Spec.Ladder != nil && lt.Spec.Ladder.StopOnBreach; stops {
				t.Errorf("%s/%s stops at a breach", e.Name, name)
			}
			for _, threshold := range lt.Spec.Thresholds {
				if threshold.OnBreach != "" && threshold.OnBreach != v1beta1.BreachContinue {
					t.Errorf("%s/%s stops at a breach of %s", e.Name, name, threshold.Metric)
				}
			}
		}
	}
}

func users(s *v1beta1.LoadTestSpec) (list []int32) {
	if s.Ladder != nil {
		return s.Ladder.Users
	}
	for _, step := range s.Steps {
		if step.Users != nil {
			list = append(list, *step.Users)
		}
	}
	return list
}

// A load test that stores something compares it with what was acknowledged, and one of
// a rate limiter its grants with the contract.
func TestOverlaysAudit(t *testing.T) {
	for _, e := range experiment.All() {
		m := rendered(t, e)
		for i := range m.LoadTests {
			lt := &m.LoadTests[i]
			audited := map[string]bool{}
			for _, a := range lt.Spec.StoredAudits() {
				for _, name := range a.Stored.Requests {
					audited[name] = true
				}
			}
			for _, r := range lt.Spec.Requests {
				clicks := r.Name == "follow" && (e.Seed() == "002" || e.Name == "001-clicks")
				if stores := r.HTTP.Method == "POST" || clicks; stores != audited[r.Name] {
					t.Errorf("%s/%s: %s stores something: %t, and is audited: %t", e.Name, lt.Name, r.Name, stores, audited[r.Name])
				}
			}
			if limiter := e.Seed() == "004"; limiter != (lt.Spec.RateLimit() != nil) {
				t.Errorf("%s/%s audits a rate limit: %t", e.Name, lt.Name, !limiter)
			}
		}
	}
}

package policy_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// defaults are the limits of an empty document.
var defaults = policy.Limits{Runs: 10, WorkersAtOnce: 500, Users: 100_000, Rate: 100_000, BytesPerSecond: 1 << 30, Workers: 100, Duration: 24 * time.Hour, Held: time.Hour}

func TestLimitsOfNamespaces(t *testing.T) {
	const document = `
limits:
  runs: 7
  workers: 80
  namespaces:
    - {namespaces: [team-a, "shop-*"], runs: 2, users: 10000, rate: 5000, workers: 8, duration: 2h, held: 10m, bytesPerSecond: 10Mi}
    - {namespaces: [team-b], workers: 90}
    - {namespaces: [team-c], workers: 10, workersAtOnce: 20}
    - {users: 50}
`
	p := load(t, document)
	small := policy.Limits{Runs: 2, WorkersAtOnce: 40, Users: 10_000, Rate: 5000, BytesPerSecond: 10 << 20, Workers: 8, Duration: 2 * time.Hour, Held: 10 * time.Minute}
	of := func(edit func(*policy.Limits)) policy.Limits {
		l := defaults
		edit(&l)
		return l
	}
	for namespace, want := range map[string]policy.Limits{
		"team-a": small, "shop-eu": small,
		"team-b": of(func(l *policy.Limits) { l.Workers, l.WorkersAtOnce = 80, 80 }), // no more than the cluster has
		"other":  of(func(l *policy.Limits) { l.Workers, l.WorkersAtOnce, l.Users = 80, 80, 50 }),
		"team-c": of(func(l *policy.Limits) { l.Workers, l.WorkersAtOnce = 10, 20 }),
	} {
		same.As(t, "limits of "+namespace, want, p.For(namespace).Limits)
	}
	same.As(t, "limits of the cluster", policy.Cluster{Runs: 7, Workers: 80}, p.Cluster())
}

func TestLimitsByDefault(t *testing.T) {
	same.As(t, "limits", defaults, policy.Default().For("any").Limits)
	same.As(t, "limits of the cluster", policy.Cluster{Runs: 50, Workers: 1000}, policy.Default().Cluster())
	if l := policy.Everything().Limits; l != (policy.Limits{}) {
		t.Errorf("on a machine of one's own there are the limits %+v", l)
	}
}

// The error of a document names the field and the way out.
func TestLimitsThatAreNone(t *testing.T) {
	for document, want := range map[string]string{
		"limits: {namespaces: [{workersAtOnce: 99}]}":                   "limits.namespaces[0].workersAtOnce: 99 must be at least workers, 100, which a LoadTest may have: it would wait for ever; lower workers, too",
		"limits: {namespaces: [{held: 0s}]}":                            "limits.namespaces[0].held: 0s must be greater than 0, such as 1h",
		"limits: {namespaces: [{workersAtOnce: 0}]}":                    "limits.namespaces[0].workersAtOnce: 0 must be at least 1; to keep every LoadTest from beginning, set stop",
		"limits: {runs: 0}":                                             "limits.runs: 0 must be at least 1; to keep every LoadTest from beginning, set stop",
		"limits: {workers: -1}":                                         "limits.workers: -1 must be at least 1; to keep every LoadTest from beginning, set stop",
		"limits: {namespaces: [{namespaces: [a]}, {runs: 0}]}":          "limits.namespaces[1].runs: 0 must be at least 1; to keep every LoadTest from beginning, set stop",
		"limits: {namespaces: [{users: 0}]}":                            "limits.namespaces[0].users: 0 must be at least 1; to keep every LoadTest from beginning, set stop",
		"limits: {namespaces: [{rate: 0}]}":                             "limits.namespaces[0].rate: 0 must be at least 1; to keep every LoadTest from beginning, set stop",
		"limits: {namespaces: [{duration: 0s}]}":                        "limits.namespaces[0].duration: 0s must be greater than 0, such as 2h",
		"limits: {namespaces: [{bytesPerSecond: 0}]}":                   "limits.namespaces[0].bytesPerSecond: 0 must be at least 1, such as 100Mi",
		"limits: {namespaces: [{users: 1}, {namespaces: [team-a]}]}":    "limits.namespaces[0]: matches all namespaces, so the rules after it never apply; put it last",
		"limits: {namespaces: [{namespaces: [a], users: 1, user: 10}]}": "unknown field",
	} {
		refused(t, document, want)
	}
	load(t, "limits: {namespaces: [{runs: 1, users: 1, workers: 1, rate: 1, bytesPerSecond: 1, duration: 1ns}]}")
}

package manifest_test

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const defaults = `{shortener: {enabled: false, connections: pool, poolSize: 100, cache: {enabled: false}, clicks: {mode: none}},
eventstore: {enabled: false}, postgres: {maxConnections: 100}, pgbouncer: {poolSize: 50}, redis: {poolSize: 20}, ratelimiter: {enabled: true}}`

// A limit is divided if the target has what it limits, and is rounded up.
func TestLimitsAreScaledWhereTheyHold(t *testing.T) {
	tests := map[string]struct {
		preset string
		sets   []string
		want   string
	}{
		"a rate limiter":              {`{ratelimiter: {capacity: 50}}`, nil, ""},
		"connections without a bound": {`{shortener: {enabled: true, connections: unlimited}}`, nil, "postgres.maxConnections=10"},
		"a pool":                      {`{shortener: {enabled: true, poolSize: 15}}`, nil, "postgres.maxConnections=10 shortener.poolSize=2"},
		"PgBouncer": {
			`{shortener: {enabled: true, connections: pgbouncer, poolSize: 1000}, postgres: {maxConnections: 205}}`, nil,
			"postgres.maxConnections=21 shortener.poolSize=100 pgbouncer.poolSize=5",
		},
		"a cache": {`{shortener: {enabled: true, connections: unlimited, cache: {enabled: true}}, redis: {poolSize: 200}}`, nil, "postgres.maxConnections=10 redis.poolSize=20"},
		"a cache that is set off": {
			`{shortener: {enabled: true, connections: unlimited, cache: {enabled: true}}}`, []string{"shortener.cache.enabled=false"}, "postgres.maxConnections=10",
		},
		"clicks through Redis":              {`{shortener: {enabled: true, connections: unlimited, clicks: {mode: redis}}}`, nil, "postgres.maxConnections=10 redis.poolSize=2"},
		"a Postgres that takes few already": {`{shortener: {enabled: true, connections: unlimited}, postgres: {maxConnections: 20}}`, nil, "postgres.maxConnections=10"},
		"processors": {
			`{shortener: {enabled: true, connections: unlimited, resources: {limits: {cpu: 1}}}}`, nil, "postgres.maxConnections=10 shortener.resources.limits.cpu=0.1",
		},
		"processors of an event store":  {`{eventstore: {enabled: true, resources: {limits: {cpu: "2"}}}}`, nil, "eventstore.resources.limits.cpu=0.2"},
		"an event store without limits": {`{eventstore: {enabled: true, resources: {limits: {memory: 1Gi}}}}`, nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			limits, err := tenth.LimitsOf(append([][]byte{[]byte(defaults), []byte(test.preset)}, manifest.Sets(test.sets)...)...)
			must.Succeed(t, err)
			var sets []string
			for _, l := range limits {
				sets = append(sets, l.Set())
			}
			same.As(t, "scaled limits", test.want, strings.Join(sets, " "))
		})
	}
	if _, err := tenth.LimitsOf([]byte("shortener: {poolSize: many}")); err == nil || !strings.HasPrefix(err.Error(), "read the values of a target: ") {
		t.Errorf("LimitsOf(many) = %v", err)
	}
}

// The factor of an experiment names what was scaled from what to what.
func TestFactorNamesItsLimits(t *testing.T) {
	limits, err := tenth.LimitsOf([]byte(defaults), []byte(`{shortener: {enabled: true, resources: {limits: {cpu: 1}}}}`))
	must.Succeed(t, err)
	f := tenth
	f.Limits = manifest.InWords(limits)
	same.As(t, "the factor", "users and rates are 1/10 of the published ones and at least 1, durations 1/5 and at least 5s; repetitions: 1; "+
		"limits of the target, 1/10 as well: connections of a Postgres 100 → 10, the pool of a replica 100 → 10, processors of a replica 1 → 0.1", f.String())
}

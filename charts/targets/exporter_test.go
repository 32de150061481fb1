package targets

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Exporters are for the stores that there are, and no store is another for them.
func TestExportersChangeNothingElse(t *testing.T) {
	const on = "exporters.redis.enabled=true,exporters.postgres.enabled=true,"
	for set, want := range map[string][]string{
		"exporters.redis.enabled=false": nil,
		on + "ratelimiter.enabled=true": {"ratelimiter-redis-exporter"},
		on + "eventstore.enabled=true":  {"ratelimiter-redis-exporter"},
		on + "shortener.enabled=true":   {"ratelimiter-redis-exporter", "shortener-postgres-exporter-0"},
		on + "shortener.cache.enabled=true,shortener.enabled=true,postgres.shards=2": {"ratelimiter-redis-exporter", "shortener-postgres-exporter-0", "shortener-postgres-exporter-1", "shortener-redis-exporter"},
	} {
		var got []string
		for key := range render(t, "--set", set).pods(t) {
			if strings.Contains(key, "-exporter") {
				got = append(got, strings.TrimPrefix(key, "Deployment/"))
			}
		}
		same.As(t, set, want, slices.Sorted(slices.Values(got)))
	}
	for _, key := range []string{"StatefulSet/shortener-postgres", "Deployment/shortener-redis"} {
		const set = "shortener.enabled=true,shortener.cache.enabled=true"
		with, without := render(t, "--set", on+set)[key], render(t, "--set", set)[key]
		if diff := cmp.Diff(without.Object, with.Object); diff != "" {
			t.Errorf("%s with exporters (-without +with):\n%s", key, diff)
		}
	}
}

// An exporter has the address and the password of its own store.
func TestExportersReachTheirStores(t *testing.T) {
	r := render(t, "--set", everything)
	for key, want := range map[string]map[string]string{
		"Deployment/ratelimiter-redis-exporter": {"REDIS_ADDR": "ratelimiter-redis:6379", "REDIS_PASSWORD": "<ratelimiter:redis-password>"},
		"Deployment/shortener-redis-exporter":   {"REDIS_ADDR": "shortener-redis:6379", "REDIS_PASSWORD": "<shortener:redis-password>"},
		"Deployment/shortener-postgres-exporter-2": {
			"DATA_SOURCE_URI":  "shortener-postgres-2.shortener-postgres:5432/shortener?sslmode=disable",
			"DATA_SOURCE_USER": "shortener", "DATA_SOURCE_PASS": "<shortener:postgres-password>",
		},
	} {
		same.As(t, key, want, r.env(t, key))
	}
}

package targets

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestValuesThatCannotWorkAreRefused(t *testing.T) {
	tests := map[string]struct {
		set, want string
	}{
		"an unknown strategy":     {"ratelimiter.strategy=magic", "at '/ratelimiter/strategy': value must be one of 'hash', 'transaction', 'transaction-429', 'lua', 'lua-seconds'"},
		"negative replicas":       {"ratelimiter.replicas=-1", "at '/ratelimiter/replicas': minimum: got -1, want 1"},
		"no capacity":             {"ratelimiter.capacity=0", "at '/ratelimiter/capacity': minimum: got 0, want 1"},
		"a word for a number":     {"ratelimiter.capacity=few", "at '/ratelimiter/capacity': got string, want integer"},
		"no refill":               {"ratelimiter.refillPerSecond=0", "at '/ratelimiter/refillPerSecond': exclusiveMinimum"},
		"a refill that is none":   {"ratelimiter.refillPerSecond=0.0", "at '/ratelimiter/refillPerSecond': 'not' failed"},
		"neither way":             {"ratelimiter.onStoreFailure=ajar", "at '/ratelimiter/onStoreFailure': value must be one of 'closed', 'open'"},
		"a misspelt value":        {"ratelimiter.replica=3", "at '/ratelimiter': additional properties 'replica' not allowed"},
		"an address":              {"ratelimiter.trustedProxies[0]=10.0.0.1", "at '/ratelimiter/trustedProxies/0': '10.0.0.1' does not match pattern"},
		"a pull policy":           {"nginx.image.pullPolicy=Maybe", "at '/nginx/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'"},
		"no room for a suffix":    {"ratelimiter.service.name=" + strings.Repeat("a", 49), "at '/ratelimiter/service/name': maxLength: got 49, want 48"},
		"nor for a longer one":    {"shortener.service.name=" + strings.Repeat("a", 41), "at '/shortener/service/name': maxLength: got 41, want 40"},
		"unknown clicks":          {"shortener.clicks.mode=async", "at '/shortener/clicks/mode': value must be one of 'none', 'sync', 'redis', 'kafka'"},
		"unknown connections":     {"shortener.connections=many", "at '/shortener/connections': value must be one of 'unlimited', 'pool', 'pgbouncer'"},
		"an unknown API":          {"shortener.api=seed-003", "at '/shortener/api': value must be one of 'canonical', 'seed-001', 'seed-002'"},
		"a fourth shard":          {"postgres.shards=4", "at '/postgres/shards': maximum: got 4, want 3"},
		"too many links":          {"shortener.seed.rows=900001", "at '/shortener/seed/rows': maximum: got 900,001, want 900,000"},
		"no start value":          {"shortener.seed.seed=0", "at '/shortener/seed/seed': minimum: got 0, want 1"},
		"links of no time":        {"shortener.linkTTL=0s", "at '/shortener/linkTTL': '0s' does not match pattern"},
		"a cache of no time":      {"shortener.cache.ttl=0h0.00m0s", "at '/shortener/cache/ttl': '0h0.00m0s' does not match pattern"},
		"less than a millisecond": {"shortener.cache.ttl=0.0009s", "at '/shortener/cache/ttl': '0.0009s' does not match pattern"},
		"less of a cache":         {"shortener.cache.negativeTTL=0.5ms", "at '/shortener/cache/negativeTTL': '0.5ms' does not match pattern"},
		"a selector's label":      {"commonLabels.app\\.kubernetes\\.io/component=web", "at '': invalid propertyName 'app.kubernetes.io/component'"},
		"a number for a time":     {"shortener.cache.ttl=24", "at '/shortener/cache/ttl': got number, want string"},
		"a URL that is none":      {"shortener.baseURL=sho.rt", "at '/shortener/baseURL': 'sho.rt' does not match pattern"},
		"a second writer":         {"eventstore.replicas=2", "at '/eventstore/replicas': value must be 1"},
		"a tenant in a folder":    {"eventstore.tenants={a/b}", "at '/eventstore/tenants/0': 'a/b' does not match pattern"},
		"a step of no time":       {"tokens.step=0ms", "at '/tokens/step': '0ms' does not match pattern"},
		"a step of minutes":       {"tokens.perSequence=2m", "at '/tokens/perSequence': '2m' does not match pattern"},
		"no open tenant":          {"eventstore.openLogs=0", "at '/eventstore/openLogs': minimum: got 0, want 1"},
		"a wait without a unit":   {"eventstore.delay=250", "at '/eventstore/delay': got number, want string"},
		"a wait of minutes":       {"eventstore.delay=60000ms", "at '/eventstore/delay': '60000ms' does not match pattern"},
		"root":                    {"postgres.uid=0", "at '/postgres/uid': minimum: got 0, want 1"},
		"an unknown broker":       {"kafka.flavor=rabbit", "at '/kafka/flavor': value must be one of 'redpanda', 'kafka'"},
		"a fraction of a scrape":  {"serviceMonitor.interval=0.5s", "at '/serviceMonitor/interval': '0.5s' does not match pattern"},
		"no time between them":    {"serviceMonitor.interval=", "at '/serviceMonitor/interval': minLength"},
		"every pod, from outside": {"ratelimiter.service.type=LoadBalancer", "at '/ratelimiter/trustedProxies/0': '10.0.0.0/8' does not match pattern"},
		"everyone, from outside":  {"shortener.service.type=LoadBalancer,shortener.trustedProxies={0.0.0.0/0}", "at '/shortener/trustedProxies/0': '0.0.0.0/0' does not match pattern"},
		"all of IPv6":             {"eventstore.service.type=LoadBalancer,eventstore.trustedProxies={fc00::/7}", "at '/eventstore/trustedProxies/0': 'fc00::/7' does not match pattern"},
		"gRPC of a shortener":     {"shortener.service.grpcPort=9090", "at '/shortener/service': additional properties 'grpcPort' not allowed"},
		"no such port":            {"eventstore.service.grpcPort=65536", "at '/eventstore/service/grpcPort': maximum: got 65,536, want 65,535"},
		"a name of two targets":   {"shortener.enabled=true,shortener.service.name=ratelimiter", "shortener.service.name: ratelimiter is the name of ratelimiter, too, and objects are named after it: give each target its own"},
		"more links than codes":   {"shortener.enabled=true,shortener.codeLength=3,shortener.seed.rows=238329", "shortener.seed: 238329 links of seed 1 need more codes than there are of 3 characters: use a larger shortener.codeLength"},
		"links behind the codes":  {"shortener.enabled=true,shortener.codeLength=3,shortener.seed.rows=1,shortener.seed.seed=2", "shortener.seed: 1 links of seed 2 need more codes than there are of 3 characters"},
		"a bucket of years":       {"ratelimiter.capacity=32,ratelimiter.refillPerSecond=0.000001", "ratelimiter.refillPerSecond: takes more than a year to fill 32 tokens: use a larger one"},
		"a pool above Postgres's": {"shortener.enabled=true,shortener.connections=pgbouncer,shortener.clicks.mode=redis,pgbouncer.poolSize=97", "pgbouncer.poolSize: 97 connections, and 4 of the consumers of clicks, are more than the 100 of postgres.maxConnections: use a smaller pool, or let Postgres take more"},
		"a size without a unit":   {"postgres.persistence.size=5", "at '/postgres/persistence/size'"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, mistakes, err := template(t, "--set", tc.set)
			if err == nil || !strings.Contains(mistakes, tc.want) {
				t.Errorf("--set %s: error %v\n%s\nwant %s", tc.set, err, mistakes, tc.want)
			}
		})
	}
}

// Behind a load balancer a client is not who it says it is.
func TestClientsOfLoadBalancersAreNamedByNginx(t *testing.T) {
	for set, want := range map[string]string{
		"ratelimiter.service.type=ClusterIP": "$proxy_add_x_forwarded_for;",
		"ratelimiter.service.type=LoadBalancer,ratelimiter.trustedProxies={10.244.0.0/16,fd00::/48}": "$remote_addr;",
	} {
		conf := as[corev1.ConfigMap](t, render(t, "--set", set), "ConfigMap/ratelimiter-nginx").Data["nginx.conf"]
		if !strings.Contains(conf, "proxy_set_header X-Forwarded-For "+want) {
			t.Errorf("--set %s: Nginx does not pass on %s\n%s", set, want, conf)
		}
	}
}

// Every value has a sentence, and no object takes an unknown property, but for
// those whose keys are the user's or Kubernetes's own.
func TestSchemaIsStrict(t *testing.T) {
	text := must.ReadFile(t, "values.schema.json")
	var schema map[string]any
	must.Succeed(t, json.Unmarshal(text, &schema))
	free := map[string]bool{
		"global": true, "commonLabels": true, "labels": true, "nodeSelector": true, "resources": true,
	}
	var walk func(path, name string, node map[string]any)
	walk = func(path, name string, node map[string]any) {
		properties, _ := node["properties"].(map[string]any)
		if properties == nil && node["description"] == nil {
			t.Errorf("%s has no description", path)
		}
		if (properties != nil || node["type"] == "object") && node["additionalProperties"] != false && !free[name] {
			t.Errorf("%s takes unknown properties", path)
		}
		for name, below := range properties {
			walk(path+"."+name, name, below.(map[string]any))
		}
	}
	walk("", "", schema)
}

package targets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The commands of third-party programs.
func TestProgramsOfOthersHaveTheirCommands(t *testing.T) {
	redis := func(durable, policy string) []string {
		return []string{"redis-server", "/etc/redis/redis.conf", "--save", "", "--appendonly", durable, "--dir", "/data",
			"--maxmemory", "100mb", "--maxmemory-policy", policy}
	}
	postgres := []string{"sh", "/etc/postgres/start.sh", "-c", "max_connections=100", "-c", "shared_buffers=128MB"}
	const clicks = "shortener.enabled=true,shortener.clicks.mode="
	tests := map[string]struct {
		set, key string
		want     []string
	}{
		"nginx":          {key: "Deployment/ratelimiter-nginx", want: []string{"nginx", "-e", "stderr", "-c", "/etc/targets/nginx.conf", "-g", "daemon off;"}},
		"buckets":        {key: "Deployment/ratelimiter-redis", want: redis("no", "noeviction")},
		"cache":          {set: "shortener.enabled=true,shortener.cache.enabled=true", key: "Deployment/shortener-redis", want: redis("no", "volatile-lru")},
		"list of clicks": {set: clicks + "redis", key: "Deployment/shortener-redis", want: redis("yes", "volatile-lru")},
		"postgres":       {set: "shortener.enabled=true", key: "StatefulSet/shortener-postgres", want: postgres},
		"pgbouncer": {
			set: "shortener.enabled=true,shortener.connections=pgbouncer", key: "Deployment/shortener-pgbouncer-0",
			want: []string{"pgbouncer", "/etc/pgbouncer/pgbouncer.ini"},
		},
		"redpanda": {
			set: clicks + "kafka", key: "StatefulSet/shortener-kafka",
			want: []string{"rpk", "redpanda", "start", "--mode=dev-container", "--unsafe-bypass-fsync=false", "--set", "redpanda.write_caching_default=disabled", "--smp=1", "--memory=1024M", "--default-log-level=warn",
				"--kafka-addr=internal://0.0.0.0:9092", "--advertise-kafka-addr=internal://shortener-kafka:9092"},
		},
		"kafka": {set: clicks + "kafka,kafka.flavor=kafka", key: "StatefulSet/shortener-kafka", want: []string{"sh", "/etc/kafka/start.sh"}},
		"seed": {
			set: "shortener.enabled=true,shortener.seed.rows=900000", key: "Job/shortener-seed",
			want: []string{"/shortener", "seed", "--rows=900000", "--seed=1"},
		},
		"check": {key: "Pod/ratelimiter-test", want: []string{"/ratelimiter", "check", "--url", "http://ratelimiter.demo"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := render(t, "--set", tc.set).container(t, tc.key)
			same.As(t, "command", tc.want, slices.Concat(c.Command, c.Args))
		})
	}
}

// The connections of each component.
func TestComponentsConnectAsAsked(t *testing.T) {
	const postgres = "shortener-postgres-0.shortener-postgres:5432,shortener-postgres-1.shortener-postgres:5432"
	for connections, want := range map[string]string{
		"unlimited": postgres, "pool": postgres, "pgbouncer": "shortener-pgbouncer-0:6432,shortener-pgbouncer-1:6432",
	} {
		r := render(t, "--set", "shortener.enabled=true,postgres.shards=2,shortener.clicks.mode=redis,shortener.seed.rows=1,shortener.connections="+connections)
		env := r.env(t, "Deployment/shortener-app")
		if env["POSTGRES_CONNECTIONS"] != connections || env["POSTGRES_SHARDS"] != want {
			t.Errorf("%s: replicas connect by %s to %s, want %s", connections, env["POSTGRES_CONNECTIONS"], env["POSTGRES_SHARDS"], want)
		}
		for _, key := range []string{"Deployment/shortener-clicks", "Job/shortener-seed"} {
			same.As(t, fmt.Sprintf("%s: %s connects to", connections, key), postgres, r.env(t, key)["POSTGRES_SHARDS"])
		}
	}
}

func TestValuesReachTheConfigurations(t *testing.T) {
	r := render(t, "--set", "ratelimiter.service.name=other,nginx.workers=3,nginx.workerConnections=1024,nginx.keepalive=7,"+
		"shortener.enabled=true,shortener.nginx.enabled=true,shortener.connections=pgbouncer,postgres.shards=2,pgbouncer.poolSize=9,pgbouncer.maxClientConnections=900,"+
		"shortener.clicks.mode=kafka,kafka.flavor=kafka,shortener.service.name=short")
	for key, want := range map[string][]string{
		"other-nginx/nginx.conf": {
			"worker_processes 3;", "worker_connections 1024;", "worker_rlimit_nofile 1536;", "server other-app:8080;", "keepalive 7;",
			"proxy_http_version 1.1;", "proxy_next_upstream off;", "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
		},
		"short-nginx/nginx.conf": {"server short-app:8080;"},
		"short-pgbouncer-1/pgbouncer.ini": {
			"shortener = host=short-postgres-1.short-postgres port=5432 dbname=shortener\n", "pool_mode = transaction\n",
			"default_pool_size = 9\n", "max_client_conn = 900\n", "auth_type = scram-sha-256\n", "server_login_retry = 1\n", "server_connect_timeout = 2\n", "dns_max_ttl = 1\n",
		},
		"short-postgres/start.sh": {"initdb ", "exec postgres "},
		"short-kafka/start.sh":    {"kafka.tools.StorageTool format", "exec $java "},
		"short-kafka/server.properties": {
			"advertised.listeners=PLAINTEXT://short-kafka:9092\n", "log.dirs=/var/lib/kafka/data\n", "offsets.topic.replication.factor=1\n",
		},
	} {
		name, file, _ := strings.Cut(key, "/")
		text := as[corev1.ConfigMap](t, r, "ConfigMap/"+name).Data[file]
		for _, line := range want {
			if !strings.Contains(text, line) {
				t.Errorf("%s has no %q:\n%s", key, line, text)
			}
		}
	}
}

// Tenants have a file of keys, one store has one key, and a store for all none.
func TestKeysOfTheEventStoreFollowItsTenants(t *testing.T) {
	tests := map[string]struct {
		set               string
		apiKey, file, try string
	}{
		"one store": {apiKey: "<loadtest-eventstore:api-key>", try: "<loadtest-eventstore:api-key>"},
		"tenants":   {set: ",eventstore.tenants={one,two}", file: "/etc/eventstore/tenants.yaml", try: "<loadtest-eventstore:api-key-one>"},
		"for all":   {set: ",eventstore.auth.enabled=false"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := render(t, "--set", "eventstore.enabled=true"+tc.set)
			env := r.env(t, "StatefulSet/eventstore-app")
			got := []string{env["API_KEY"], env["TENANTS_FILE"], r.env(t, "Pod/eventstore-test")["API_KEY"]}
			same.As(t, "the store's key, its tenants and the check's key", []string{tc.apiKey, tc.file, tc.try}, got)
		})
	}
}

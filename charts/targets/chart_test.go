package targets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestHelmFindsNoMistakeInAnyPreset(t *testing.T) {
	for _, file := range append(presets(t), "values-local.yaml") {
		if out, err := helm(t, "lint", "--strict", "--values", file, ".").CombinedOutput(); err != nil {
			t.Errorf("helm lint --values %s: %v\n%s", file, err, out)
		}
	}
}

// Every preset in full: its objects, and the settings of its services. go test
// ./charts/targets -run Presets -update writes it anew.
func TestPresetsAreAsReviewed(t *testing.T) {
	var b strings.Builder
	for _, file := range presets(t) {
		r := render(t, "--values", file)
		fmt.Fprintf(&b, "%s\n", file)
		for _, key := range r.names() {
			kind, name, _ := strings.Cut(key, "/")
			if pod, runs := r.pods(t)[key]; runs {
				fmt.Fprintf(&b, "  %s %s%s: %s\n", kind, name, times(r, key), pod.Spec.Containers[0].Image)
				r.settings(t, &b, key)
			}
		}
	}
	golden.Check(t, filepath.Join("testdata", "presets.txt"), b.String())
}

// times is how often a workload runs, unless once.
func times(r release, key string) string {
	spec, _ := r[key].Object["spec"].(map[string]any)
	if n, found := spec["replicas"]; found && fmt.Sprint(n) != "1" {
		return fmt.Sprintf(" x%v", n)
	}
	return ""
}

// settings are the arguments and variables of a workload, without what every one
// has.
func (r release) settings(t *testing.T, b *strings.Builder, key string) {
	t.Helper()
	if args := r.container(t, key).Args; len(args) > 0 {
		fmt.Fprintf(b, "    %s\n", strings.Join(args, " "))
	}
	for _, e := range r.container(t, key).Env {
		if value := r.env(t, key)[e.Name]; e.Name != "TRUSTED_PROXIES" && e.Name != "PORT" {
			fmt.Fprintf(b, "    %s=%s\n", e.Name, value)
		}
	}
}

// What users, load tests and other charts refer to by name.
func TestObjectsAreNamedAfterTheirTarget(t *testing.T) {
	want := []string{
		"ConfigMap/ratelimiter-nginx",
		"Deployment/ratelimiter-app", "Deployment/ratelimiter-nginx", "Deployment/ratelimiter-redis",
		"Pod/ratelimiter-test", "PodDisruptionBudget/ratelimiter-app", "Secret/ratelimiter",
		"Service/ratelimiter", "Service/ratelimiter-app", "Service/ratelimiter-redis",
		"NetworkPolicy/ratelimiter-app", "NetworkPolicy/ratelimiter-redis",
	}
	shortener := []string{
		"ConfigMap/shortener-postgres", "Deployment/shortener-app", "Pod/shortener-test", "Secret/shortener",
		"Service/shortener", "Service/shortener-app", "Service/shortener-postgres", "StatefulSet/shortener-postgres",
		"NetworkPolicy/shortener-postgres",
	}
	const only = "ratelimiter.enabled=false,"
	tests := map[string]struct {
		set  string
		want []string
	}{
		"default":      {want: want},
		"another name": {set: "ratelimiter.service.name=other", want: strings.Split(strings.ReplaceAll(strings.Join(want, " "), "/ratelimiter", "/other"), " ")},
		"nothing":      {set: "ratelimiter.enabled=false"},
		"shortener":    {set: only + "shortener.enabled=true", want: shortener},
		"shortener by another name": {
			set:  only + "shortener.enabled=true,shortener.service.name=other",
			want: strings.Split(strings.ReplaceAll(strings.Join(shortener, " "), "/shortener", "/other"), " "),
		},
		"cache": {
			set:  only + "shortener.enabled=true,shortener.cache.enabled=true",
			want: append(slices.Clone(shortener), "Deployment/shortener-redis", "Service/shortener-redis", "NetworkPolicy/shortener-redis"),
		},
		"clicks by Redis": {
			set: only + "shortener.enabled=true,shortener.clicks.mode=redis",
			want: append(slices.Clone(shortener), "Deployment/shortener-redis", "Service/shortener-redis", "NetworkPolicy/shortener-redis",
				"Deployment/shortener-clicks", "Service/shortener-clicks", "NetworkPolicy/shortener-clicks"),
		},
		"clicks by a broker": {
			set: only + "shortener.enabled=true,shortener.clicks.mode=kafka",
			want: append(slices.Clone(shortener), "Service/shortener-kafka", "StatefulSet/shortener-kafka", "NetworkPolicy/shortener-kafka",
				"Deployment/shortener-clicks", "Service/shortener-clicks", "NetworkPolicy/shortener-clicks"),
		},
		"Nginx before replicas": {
			set:  only + "shortener.enabled=true,shortener.replicas=2,shortener.nginx.enabled=true",
			want: append(slices.Clone(shortener), "ConfigMap/shortener-nginx", "Deployment/shortener-nginx", "PodDisruptionBudget/shortener-app", "NetworkPolicy/shortener-app"),
		},
		"event store": {
			set:  only + "eventstore.enabled=true",
			want: []string{"Pod/eventstore-test", "Secret/loadtest-eventstore", "Service/eventstore", "Service/eventstore-app", "StatefulSet/eventstore-app"},
		},
		"tokens": {set: only + "tokens.enabled=true", want: []string{"Deployment/tokens-app", "Pod/tokens-test", "Service/tokens", "Service/tokens-app"}},
		"event store for all": {
			set:  only + "eventstore.enabled=true,eventstore.auth.enabled=false",
			want: []string{"Pod/eventstore-test", "Service/eventstore", "Service/eventstore-app", "StatefulSet/eventstore-app"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			slices.Sort(tc.want)
			same.As(t, "objects", tc.want, render(t, "--set", tc.set).names())
		})
	}
}

// The front door is Nginx where there is one, and the replicas where not.
func TestFrontDoorIsNginxWhereThereIsOne(t *testing.T) {
	for set, want := range map[string]string{
		"shortener.enabled=true":                              "app",
		"shortener.enabled=true,shortener.nginx.enabled=true": "nginx",
	} {
		r := render(t, "--set", set)
		for name, want := range map[string]string{"shortener": want, "ratelimiter": "nginx"} {
			service := as[corev1.Service](t, r, "Service/"+name)
			same.As(t, fmt.Sprintf("%s: the Service %s leads to", set, name), want, service.Spec.Selector["app.kubernetes.io/component"])
			if p := service.Spec.Ports; len(p) != 1 || p[0].Port != 80 {
				t.Errorf("ports of the Service %s = %+v, want 80", name, p)
			}
		}
	}
}

// Helm reads numbers of a file as floats, and would write a million as 1e+06.
func TestNumericValuesStayNumbers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.yaml")
	values := `
ratelimiter: {capacity: 1000000, maxRetries: 0, refillPerSecond: 0.5}
redis: {poolSize: 1000}
shortener: {enabled: true, connections: pgbouncer, poolSize: 10000, codeLength: 10, seed: {rows: 900000, seed: 2147483647}, rateLimit: {perSecond: 1000000}}
postgres: {maxConnections: 10000}
pgbouncer: {poolSize: 10000, maxClientConnections: 100000}
`
	must.Succeed(t, os.WriteFile(file, []byte(values), 0o600))
	out, mistakes, err := template(t, "--values", file)
	if err != nil {
		t.Fatalf("%v\n%s", err, mistakes)
	}
	if strings.Contains(out, "e+0") {
		t.Errorf("a number became a float:\n%s", out)
	}
	r := render(t, "--values", file)
	env := r.env(t, "Deployment/ratelimiter-app")
	for name, want := range map[string]string{
		"LIMITER_CAPACITY": "1000000", "LIMITER_REFILL_RATE": "0.5", "MAX_RETRIES": "0", "REDIS_POOL_SIZE": "1000",
	} {
		same.As(t, name, want, env[name])
	}
	// With --set a fraction is a string.
	same.As(t, "LIMITER_REFILL_RATE", "0.5", render(t, "--set", "ratelimiter.refillPerSecond=0.5").env(t, "Deployment/ratelimiter-app")["LIMITER_REFILL_RATE"])
}

// Programs read their configuration at their start only.
func TestConfigurationChangeReplacesPods(t *testing.T) {
	for key, set := range map[string]string{
		"Deployment/ratelimiter-nginx":     "nginx.keepalive=7",
		"Deployment/shortener-pgbouncer-0": "pgbouncer.poolSize=7",
		"StatefulSet/shortener-kafka":      "shortener.service.name=shortener,kafka.flavor=kafka",
	} {
		checksum := func(set string) string {
			r := render(t, "--set", "shortener.enabled=true,shortener.connections=pgbouncer,shortener.clicks.mode=kafka,"+set)
			return r.pods(t)[key].Annotations["checksum/config"]
		}
		if one, other := checksum("kafka.flavor=redpanda"), checksum(set); other == "" || one == other {
			t.Errorf("%s: checksums of two configurations are %q and %q", key, one, other)
		}
	}
}

// A replica is not killed before it has ended by itself.
func TestGracePeriodCoversTheShutdown(t *testing.T) {
	for _, delay := range []int64{0, 3, 60} {
		s := strconv.FormatInt(delay, 10)
		r := render(t, "--set", everything+",ratelimiter.shutdownDelaySeconds="+s+",shortener.shutdownDelaySeconds="+s+",eventstore.shutdownDelaySeconds="+s+",tokens.shutdownDelaySeconds="+s)
		for _, key := range []string{"Deployment/ratelimiter-app", "Deployment/shortener-app", "StatefulSet/eventstore-app", "Deployment/tokens-app"} {
			if got := r.pods(t)[key].Spec.TerminationGracePeriodSeconds; got == nil || *got < delay+20 {
				t.Errorf("%s: delay %d s, grace period %v, want at least %d s", key, delay, got, delay+20)
			}
		}
	}
}

// Nginx ends when no new connections are sent to it, and answers what is in flight.
func TestNginxServesOnBeforeItEnds(t *testing.T) {
	for _, delay := range []int64{0, 60} {
		s := strconv.FormatInt(delay, 10)
		r := render(t, "--set", everything+",ratelimiter.shutdownDelaySeconds="+s+",shortener.shutdownDelaySeconds="+s)
		for _, key := range []string{"Deployment/ratelimiter-nginx", "Deployment/shortener-nginx"} {
			pod := r.pods(t)[key].Spec
			same.As(t, key, []string{"sleep", s}, pod.Containers[0].Lifecycle.PreStop.Exec.Command)
			if got := pod.TerminationGracePeriodSeconds; got == nil || *got < delay+20 {
				t.Errorf("%s: delay %d s, grace period %v, want at least %d s: a replica has 15 s for an answer", key, delay, got, delay+20)
			}
		}
	}
}

package recipe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestEveryImageHasExactlyOneSource(t *testing.T) {
	for _, i := range All() {
		if (i.Go == nil) == (i.Debian == nil) {
			t.Errorf("image %s: want exactly one of Go and Debian", i.Name)
		}
	}
}

// As of the official images: SIGTERM would drop the requests in flight of Nginx, and have Postgres
// wait for its clients.
func TestImagesStopBySignalsOfTheirOwn(t *testing.T) {
	got := map[string]string{}
	for _, i := range All() {
		if i.Debian != nil && i.Debian.StopSignal != "" {
			got[i.Name] = i.Debian.StopSignal
		}
	}
	same.As(t, "signals", map[string]string{"nginx": "SIGQUIT", "postgres": "SIGINT"}, got)
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range All() {
		if seen[i.Ref()] {
			t.Errorf("image %s is listed twice", i.Ref())
		}
		seen[i.Ref()] = true
	}
}

func TestImagesAreSelectedByName(t *testing.T) {
	tests := map[string]struct {
		names   []string
		want    []string
		wantErr string
	}{
		"nothing named selects all":  {want: []string{"operator", "worker", "ratelimiter", "shortener", "eventstore", "tokens", "counter", "hostile", "redis", "nginx", "postgres", "pgbouncer", "kafka", "redis-exporter", "postgres-exporter"}},
		"an optional one is named":   {names: []string{"argocd"}, want: []string{"argocd"}},
		"one":                        {names: []string{"redis"}, want: []string{"redis"}},
		"the list's order":           {names: []string{"nginx", "operator"}, want: []string{"operator", "nginx"}},
		"a name twice is built once": {names: []string{"nginx", "nginx"}, want: []string{"nginx"}},
		"unknown": {
			names:   []string{"operator", "postgre"},
			wantErr: `unknown image "postgre": the images are operator, worker, ratelimiter, shortener, eventstore, tokens, counter, hostile, redis, nginx, postgres, pgbouncer, kafka, redis-exporter, postgres-exporter, shop, kubectl-loadtest, argocd, prometheus, minio, metrics-server, kustomize-controller, groundtruth, k6-operator, k6, locust`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			images, err := Select(tt.names)
			if got := errText(err); got != tt.wantErr {
				t.Fatalf("error = %q, want %q", got, tt.wantErr)
			}
			var got []string
			for _, i := range images {
				got = append(got, i.Name)
			}
			same.As(t, "selected", tt.want, got)
		})
	}
}

func TestImagesAreNamedByRegistryAndVersion(t *testing.T) {
	images, err := Select([]string{"worker", "redis"})
	must.Succeed(t, err)
	got := []string{}
	for _, i := range images {
		got = append(got, i.Ref(), i.File(), i.Source())
	}
	want := []string{
		"loadtest.dev/worker:dev", "worker.tar", "go ./loadworker",
		"loadtest.dev/redis:dev", "redis.tar", "debian redis-server dash coreutils",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

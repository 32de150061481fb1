package deploy

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestClustersAreChosenByTheEnvironment(t *testing.T) {
	local := Cluster{
		Operator: []string{"--values", "charts/loadtest-operator/values-local.yaml"},
		Targets:  []string{"--values", "charts/targets/values-local.yaml"},
		Enter:    `export KUBECONFIG=$(bin/cluster kubeconfig --path) PATH=$PWD/bin:$(bin/cluster assets):$PATH`,
	}
	pulled := Cluster{
		Operator: []string{
			"--set", "image.repository=example.org/lt/operator", "--set-string", "image.tag=1",
			"--set", "workerImage.repository=example.org/lt/worker", "--set-string", "workerImage.tag=1",
		},
		Targets: []string{
			"--set", "ratelimiter.image.repository=example.org/lt/ratelimiter", "--set-string", "ratelimiter.image.tag=1",
			"--set", "shortener.image.repository=example.org/lt/shortener", "--set-string", "shortener.image.tag=1",
			"--set", "eventstore.image.repository=example.org/lt/eventstore", "--set-string", "eventstore.image.tag=1",
			"--set", "tokens.image.repository=example.org/lt/tokens", "--set-string", "tokens.image.tag=1",
		},
		Enter: `export PATH=$PWD/bin:$PATH`,
	}
	loaded := pulled
	loaded.Enter = `export KUBECONFIG=$PWD/bin/kind.kubeconfig PATH=$PWD/bin:$PATH`
	tests := map[string]struct {
		environment map[string]string
		want        Cluster
		wantErr     string
	}{
		"nothing set": {want: local},
		"local":       {environment: map[string]string{"CLUSTER": "local", "IMAGE_REGISTRY": "example.org", "IMAGE_TAG": "1"}, want: local},
		"kind":        {environment: map[string]string{"CLUSTER": "kind", "IMAGE_REGISTRY": "example.org/lt", "IMAGE_TAG": "1"}, want: loaded},
		"current":     {environment: map[string]string{"CLUSTER": "current", "IMAGE_REGISTRY": "example.org/lt", "IMAGE_TAG": "1"}, want: pulled},
		"no registry": {environment: map[string]string{"CLUSTER": "current", "IMAGE_TAG": "1"}, wantErr: "CLUSTER=current needs IMAGE_REGISTRY and IMAGE_TAG"},
		"no tag":      {environment: map[string]string{"CLUSTER": "kind", "IMAGE_REGISTRY": "example.org/lt"}, wantErr: "CLUSTER=kind needs IMAGE_REGISTRY and IMAGE_TAG"},
		"another":     {environment: map[string]string{"CLUSTER": "moon"}, wantErr: `CLUSTER is "moon"; it must be local, kind or current`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ClusterOf(func(key string) string { return test.environment[key] })
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("ClusterOf() = %v, want an error that says %q", err, test.wantErr)
				}
				return
			}
			must.Succeed(t, err)
			same.As(t, "ClusterOf()", test.want, got)
		})
	}
}

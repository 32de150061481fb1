package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClusterOf(t *testing.T) {
	local := cluster{
		operator: []string{"--values", "charts/loadtest-operator/values-local.yaml"},
		targets:  []string{"--values", "charts/targets/values-local.yaml"},
		enter:    `export KUBECONFIG=$(bin/cluster kubeconfig --path) PATH=$PWD/bin:$(bin/cluster assets):$PATH`,
	}
	pulled := cluster{
		operator: []string{
			"--set", "image.repository=example.org/lt/operator", "--set-string", "image.tag=1",
			"--set", "workerImage.repository=example.org/lt/worker", "--set-string", "workerImage.tag=1",
		},
		targets: []string{"--set", "ratelimiter.image.repository=example.org/lt/ratelimiter", "--set-string", "ratelimiter.image.tag=1"},
		enter:   `export PATH=$PWD/bin:$PATH`,
	}
	loaded := pulled
	loaded.enter = `export KUBECONFIG=$PWD/bin/kind.kubeconfig PATH=$PWD/bin:$PATH`
	tests := map[string]struct {
		environment map[string]string
		want        cluster
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
			got, err := clusterOf(func(key string) string { return test.environment[key] })
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("clusterOf() = %v, want an error that says %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(cluster{})); diff != "" {
				t.Errorf("clusterOf() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFilesAreThere keeps the names that the demo knows true: those of charts,
// presets and scenarios.
func TestFilesAreThere(t *testing.T) {
	local, err := clusterOf(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{operatorChart + "/Chart.yaml", operatorChart + "/crds", targetsChart + "/Chart.yaml", local.operator[1], local.targets[1]}
	for _, file := range files {
		paths = append(paths, scenarios+"/"+file)
	}
	for _, strategy := range strategies {
		paths = append(paths, targetsChart+"/values-seed-004-"+strategy+".yaml")
	}
	for _, path := range paths {
		if _, err := os.Stat(filepath.Join("..", "..", path)); err != nil {
			t.Error(err)
		}
	}
}

func TestIsVerdict(t *testing.T) {
	for code, want := range map[string]bool{"1": true, "2": true, "3": true, "4": false, "130": false} {
		err := tools{out: discard{}, err: discard{}}.run(t.Context(), "sh", "-c", "exit "+code)
		if got := isVerdict(err); got != want {
			t.Errorf("isVerdict(exit code %s) = %t, want %t (%v)", code, got, want, err)
		}
	}
	if isVerdict(nil) || isVerdict(errors.New("no program")) || isVerdict(&exec.Error{Name: "kubectl", Err: exec.ErrNotFound}) {
		t.Error("isVerdict() is true without an exit code")
	}
}

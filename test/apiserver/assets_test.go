package apiserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestAssets(t *testing.T) {
	complete, incomplete := t.TempDir(), t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		touch(t, filepath.Join(complete, name))
	}
	touch(t, filepath.Join(incomplete, "etcd"))

	tests := map[string]struct {
		variable string
		wantErr  []string // what the error must say
	}{
		"a complete folder": {variable: complete},
		"no variable": {
			wantErr: []string{"KUBEBUILDER_ASSETS is not set", "make test"},
		},
		"a missing program": {
			variable: incomplete,
			wantErr:  []string{"KUBEBUILDER_ASSETS=" + incomplete, "kube-apiserver", "make test"},
		},
		"a missing folder": {
			variable: filepath.Join(complete, "nowhere"),
			wantErr:  []string{"nowhere", "etcd", "make test"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir, err := assets(func(key string) string {
				same.As(t, "read", "KUBEBUILDER_ASSETS", key)
				return test.variable
			})
			if len(test.wantErr) == 0 {
				if err != nil || dir != test.variable {
					t.Fatalf("assets() = %q, %v, want %q", dir, err, test.variable)
				}
				return
			}
			if err == nil {
				t.Fatalf("assets() = %q, want an error", dir)
			}
			for _, part := range test.wantErr {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
}

func TestRoot(t *testing.T) {
	root, err := Root()
	must.Succeed(t, err)
	if _, err := os.Stat(filepath.Join(root, "config", "crd", "bases")); err != nil {
		t.Errorf("Root() = %s, where there is no CRD: %v", root, err)
	}
	t.Chdir(string(filepath.Separator))
	if root, err := Root(); err == nil {
		t.Errorf("Root() outside of a module = %s, want an error", root)
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(path, nil, 0o755))
}

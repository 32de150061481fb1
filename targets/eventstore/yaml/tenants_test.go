package yaml

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tenants.yaml")
	must.Succeed(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestReadTenants(t *testing.T) {
	tenants, err := ReadTenants(write(t, "tenants:\n- name: shop\n  apiKey: s3cr3t\n- {name: bank, apiKey: \"007\"}\n"))
	must.Succeed(t, err)
	for key, want := range map[string]string{"s3cr3t": "shop", "007": "bank", "7": "", "": ""} {
		if got, _ := tenants.Owner(key); got != want {
			t.Errorf("owner of %q = %q, want %q", key, got, want)
		}
	}
}

func TestReadTenantsRefuses(t *testing.T) {
	tests := map[string]struct{ content, want string }{
		"an empty file":       {"", "tenants: 0 are given: use 1 to 1000"},
		"a field misspelt":    {"tenants: [{name: a, api_key: k}]", "field api_key not found"},
		"a name given twice":  {"tenants: [{name: a, apiKey: k}, {name: a, apiKey: l}]", `tenants[1]: name "a" is given twice`},
		"no YAML":             {"tenants: [", "did not find expected node content"},
		"text for the tenant": {"tenants: [a]", "cannot unmarshal"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := write(t, tc.content)
			_, err := ReadTenants(path)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("error = %v, want %q after the path", err, tc.want)
			}
		})
	}
	if _, err := ReadTenants(filepath.Join(t.TempDir(), "none")); err == nil || !strings.HasPrefix(err.Error(), "open the tenants' file: ") {
		t.Errorf("no file: %v", err)
	}
}

package eventstore

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestKeysBelongToOneTenant(t *testing.T) {
	tenants, err := NewTenants([]Tenant{{"shop", "k1"}, {"bank", "k2"}, {"Shop", "k1 "}})
	must.Succeed(t, err)
	for key, want := range map[string]string{
		"k1": "shop", "k2": "bank", "k1 ": "Shop",
		"": "", "k": "", "k11": "", "K1": "", strings.Repeat("k", 10_000): "",
	} {
		got, ok := tenants.Owner(key)
		if got != want || ok != (want != "") {
			t.Errorf("Owner(%.20q) = %q, %v, want %q", key, got, ok, want)
		}
	}
	same.As(t, "Len()", 3, tenants.Len())
	if name, ok := (Tenants{}).Owner(""); ok {
		t.Errorf("an unknown key is %q's", name)
	}
}

func TestNewTenantsRefuses(t *testing.T) {
	tests := map[string]struct {
		list []Tenant
		want string
	}{
		"none": {nil, "tenants: 0 are given: use 1 to 1000"},
		"many": {make([]Tenant, 1001), "tenants: 1001 are given: use 1 to 1000"},
		"each mistake": {
			[]Tenant{{"a", "k"}, {"a", "l"}, {"b", "k"}, {"c", ""}, {"../d", "m"}, {"", "n"}, {strings.Repeat("x", 101), "o"}},
			`tenants[1]: name "a" is given twice
tenants[2] (b): apiKey is that of a too: give each tenant its own
tenants[3] (c): apiKey is missing
tenants[4]: name is "../d": use 1 to 100 letters, digits, _ or -
tenants[5]: name is "": use 1 to 100 letters, digits, _ or -
tenants[6]: name is "` + strings.Repeat("x", 101) + `": use 1 to 100 letters, digits, _ or -`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := NewTenants(tc.list)
			same.As(t, "error", tc.want, fmt.Sprint(err))
		})
	}
}

// Neither a mistake nor the tenants themselves tell a key.
func TestTenantsKeepNoKey(t *testing.T) {
	const key = "hunter2"
	tenants, err := NewTenants([]Tenant{{"a", key}})
	must.Succeed(t, err)
	if shown := fmt.Sprintf("%+v", tenants); strings.Contains(shown, key) {
		t.Errorf("tenants show a key: %s", shown)
	}
	if tenants.hashes[0] != sha256.Sum256([]byte(key)) {
		t.Error("what is kept is not the hash of the key")
	}
	_, err = NewTenants([]Tenant{{"a", key}, {"b", key}})
	if err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("error = %v, want one without the key", err)
	}
}

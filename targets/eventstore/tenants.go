package eventstore

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
)

const (
	// MaxTenants bounds what one request costs to authenticate: each key is
	// compared (30 µs for all of them).
	MaxTenants = 1000
	maxTenant  = 100
)

// SingleLog is the name of the log of a service without tenants.
const SingleLog = "events"

// Tenant owns one log.
type Tenant struct {
	// Name is also that of the log's file.
	Name   string
	APIKey string
}

// Tenants map keys to their owners. They do not keep the keys, only hashes.
type Tenants struct {
	names  []string
	hashes [][sha256.Size]byte
}

// NewTenants reports every mistake in a list of tenants.
func NewTenants(list []Tenant) (Tenants, error) {
	if len(list) == 0 || len(list) > MaxTenants {
		return Tenants{}, fmt.Errorf("tenants: %d are given: use 1 to %d", len(list), MaxTenants)
	}
	var errs []error
	names, keys := map[string]bool{}, map[string]string{}
	tenants := Tenants{}
	for i, t := range list {
		// The error of a duplicate key shows the names, never the key.
		other, taken := keys[t.APIKey]
		switch {
		case !isName(t.Name, maxTenant, "_-"):
			errs = append(errs, fmt.Errorf("tenants[%d]: name is %q: use 1 to %d letters, digits, _ or -", i, t.Name, maxTenant))
		case names[t.Name]:
			errs = append(errs, fmt.Errorf("tenants[%d]: name %q is given twice", i, t.Name))
		case t.APIKey == "":
			errs = append(errs, fmt.Errorf("tenants[%d] (%s): apiKey is missing", i, t.Name))
		case taken:
			errs = append(errs, fmt.Errorf("tenants[%d] (%s): apiKey is that of %s too: give each tenant its own", i, t.Name, other))
		}
		names[t.Name], keys[t.APIKey] = true, t.Name
		tenants.names = append(tenants.names, t.Name)
		tenants.hashes = append(tenants.hashes, sha256.Sum256([]byte(t.APIKey)))
	}
	if err := errors.Join(errs...); err != nil {
		return Tenants{}, err
	}
	return tenants, nil
}

// Owner is the tenant whose key that is. The time it takes does not tell how
// much of a key was right: hashes are compared, in constant time, and all of
// them whether or not one was found.
func (t Tenants) Owner(key string) (name string, ok bool) {
	hash := sha256.Sum256([]byte(key))
	found := -1
	for i := range t.hashes {
		same := subtle.ConstantTimeCompare(hash[:], t.hashes[i][:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return "", false
	}
	return t.names[found], true
}

// Len is the number of tenants.
func (t Tenants) Len() int { return len(t.names) }

package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/storetest"
)

func openStore(t *testing.T, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return s
}

func TestStoreConforms(t *testing.T) {
	for _, synchronous := range []Synchronous{Full, Normal} {
		for _, group := range []bool{true, false} {
			t.Run(fmt.Sprintf("synchronous=%s,group=%v", synchronous, group), func(t *testing.T) {
				o := Options{Synchronous: synchronous, GroupCommit: group, Readers: 2}
				storetest.Run(t, func(t *testing.T) storetest.Subject {
					// A path that has to be escaped in an address.
					path := filepath.Join(t.TempDir(), "odd ?&%20#name.db")
					s := openStore(t, path, o)
					return storetest.Subject{Store: s, Reopen: func(t *testing.T) eventstore.Store {
						if err := s.Close(); err != nil {
							t.Fatal(err)
						}
						return openStore(t, path, o)
					}}
				})
			})
		}
	}
}

// A tenant's log conforms while another one is written to, of which it shows
// nothing.
func TestTenantsConform(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Subject {
		dir := t.TempDir()
		open := func() *Databases {
			d, err := NewDatabases(dir, Options{Synchronous: Full, GroupCommit: true, Readers: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := d.Close(); err != nil {
					t.Errorf("Close() = %v", err)
				}
			})
			return d
		}
		store := func(d *Databases, name string) eventstore.Store {
			s, err := d.Store(name)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		d := open()
		appendAll(t, store(d, "other"), "of", "another")
		return storetest.Subject{Store: store(d, "mine"), Reopen: func(t *testing.T) eventstore.Store {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			return store(open(), "mine")
		}}
	})
}

// appendAll appends one event of each type, each by itself.
func appendAll(t *testing.T, s eventstore.Store, types ...string) {
	t.Helper()
	for _, name := range types {
		a, err := eventstore.NewAppend([]eventstore.Event{{Type: name}}, eventstore.Terms{}, storetest.Noon)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func openStore(t *testing.T, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	must.Succeed(t, err)
	must.Close(t, s)
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
						must.Succeed(t, s.Close())
						return openStore(t, path, o)
					}}
				})
			})
		}
	}
}

// sharedLog is a log of databases that are closed with it.
type sharedLog struct {
	eventstore.Store
	databases *Databases
	// openOther has another log opened now and then, before an append, read or move.
	openOther func()
}

func (o sharedLog) Close() error { return o.databases.Close() }

func (o sharedLog) Append(ctx context.Context, a eventstore.Append) (eventstore.Receipt, error) {
	o.openOther()
	return o.Store.Append(ctx, a)
}

func (o sharedLog) Events(ctx context.Context, from, to int64) iter.Seq2[eventstore.Event, error] {
	o.openOther()
	return o.Store.Events(ctx, from, to)
}

func (o sharedLog) Move(ctx context.Context, m eventstore.Move) error {
	o.openOther()
	return o.Store.Move(ctx, m)
}

// A tenant's log conforms during writes to another one and shows none of them; also
// if only one of the two can be open at a time.
func TestTenantsConform(t *testing.T) {
	for _, most := range []int{2, 1} {
		t.Run(fmt.Sprintf("%d at a time", most), func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Subject {
				dir := t.TempDir()
				var n atomic.Int64
				open := func() sharedLog {
					d := openDatabases(t, dir, most)
					return sharedLog{Store: logOf(t, d, "mine"), databases: d, openOther: func() {
						if n.Add(1)%20 != 1 {
							return
						}
						// Of databases that are closed there is no other.
						if other, err := d.Store(context.Background(), "other"); err == nil {
							appendToOther(t, other)
						}
					}}
				}
				mine := open()
				return storetest.Subject{Store: mine, Reopen: func(t *testing.T) eventstore.Store {
					must.Succeed(t, mine.Close())
					return open()
				}}
			})
		})
	}
}

// appendToOther appends an event, unless the databases are closed just then.
func appendToOther(t *testing.T, other eventstore.Store) {
	t.Helper()
	a, err := eventstore.NewAppend([]eventstore.Event{{Type: "of another"}}, eventstore.Terms{}, storetest.AppendTime)
	if err == nil {
		_, err = other.Append(context.Background(), a)
	}
	if err != nil && !errors.Is(err, eventstore.ErrClosed) {
		t.Error(err)
	}
}

// openDatabases opens a folder with a limit on open logs.
func openDatabases(t *testing.T, dir string, most int) *Databases {
	t.Helper()
	d, err := NewDatabases(dir, Options{Synchronous: Full, GroupCommit: true, Readers: 1}, most)
	must.Succeed(t, err)
	must.Close(t, d)
	return d
}

func logOf(t *testing.T, d *Databases, name string) eventstore.Store {
	t.Helper()
	s, err := d.Store(t.Context(), name)
	must.Succeed(t, err)
	return s
}

// appendAll appends one event of each type, each by itself.
func appendAll(t *testing.T, s eventstore.Store, types ...string) {
	t.Helper()
	for _, name := range types {
		a, err := eventstore.NewAppend([]eventstore.Event{{Type: name}}, eventstore.Terms{}, storetest.AppendTime)
		must.Succeed(t, err)
		if _, err := s.Append(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

package sqlite

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var benchData = []byte(`{"user":"u-12345","amount":199.95,"currency":"EUR","items":[1,2,3]}`)

// BenchmarkPlainInsert is what make bench-targets compares the event store with: a loop that inserts
// the same events into the same table through database/sql, with the same pragmas,
// in transactions of as many events, and without replies.
func BenchmarkPlainInsert(b *testing.B) {
	for _, size := range []int{1, 64, 256, 1024} {
		b.Run(fmt.Sprintf("transaction=%d", size), func(b *testing.B) {
			db := plainDatabase(b)
			insert, err := db.Prepare("INSERT INTO events(position, type, data, timestamp) VALUES(?, ?, ?, ?)")
			must.Succeed(b, err)
			defer insert.Close()
			b.ResetTimer()
			for n := 0; n < b.N; {
				tx, err := db.Begin()
				must.Succeed(b, err)
				stmt := tx.Stmt(insert)
				for range min(size, b.N-n) {
					n++
					if _, err := stmt.Exec(n, "order.created", benchData, time.Now().UnixNano()); err != nil {
						b.Fatal(err)
					}
				}
				must.Succeed(b, tx.Commit())
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkWriterInsert is BenchmarkPlainInsert through the writer's connection.
func BenchmarkWriterInsert(b *testing.B) {
	for _, size := range []int{1, 64, 256, 1024} {
		b.Run(fmt.Sprintf("transaction=%d", size), func(b *testing.B) {
			o, err := Options{Synchronous: Full, Readers: 1}.withDefaults()
			must.Succeed(b, err)
			w, err := newWriter(filepath.Join(b.TempDir(), "events.db"), o)
			must.Succeed(b, err)
			defer w.close()
			b.ResetTimer()
			for n := 0; n < b.N; {
				must.Succeed(b, run(w.begin))
				for range min(size, b.N-n) {
					n++
					must.Succeed(b, w.insert(eventstore.Event{Type: "order.created", Data: benchData, Timestamp: time.Now()}))
				}
				must.Succeed(b, run(w.commit))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func plainDatabase(b *testing.B) *sql.DB {
	b.Helper()
	query := url.Values{"_pragma": Options{Synchronous: Full}.writerPragmas()}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "plain.db")+"?"+query.Encode())
	must.Succeed(b, err)
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(schema); err != nil {
		b.Fatal(err)
	}
	return db
}

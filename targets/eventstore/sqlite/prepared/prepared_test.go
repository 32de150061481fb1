package prepared

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, pragmas ...string) *Conn {
	t.Helper()
	c, err := Open(filepath.Join(t.TempDir(), "test.db"), pragmas)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return c
}

func prepare(t *testing.T, c *Conn, sql string) *Stmt {
	t.Helper()
	s, err := c.Prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t *testing.T, c *Conn, sql string) {
	t.Helper()
	if err := c.Exec(sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// What goes in comes out, in each size, also when a smaller value follows a
// larger one through the same memory.
func TestValuesRoundTrip(t *testing.T) {
	c := open(t)
	run(t, c, "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT NOT NULL, data BLOB NOT NULL)")
	insert := prepare(t, c, "INSERT INTO t VALUES(?,?,?)")
	read := prepare(t, c, "SELECT name, data, length(data) FROM t WHERE id = ?")
	type row struct {
		Name   string
		Data   string
		Length int64
	}
	for i, want := range []row{
		{Name: "small", Data: "x", Length: 1},
		{Name: strings.Repeat("ü", 500), Data: string(bytes.Repeat([]byte{0, 255}, 5_000)), Length: 10_000},
		{Name: "after", Data: "\x00middle\x00", Length: 8},
		{Name: "", Data: "", Length: 0},
	} {
		insert.BindInt(1, int64(i))
		insert.BindText(2, want.Name)
		insert.BindBlob(3, []byte(want.Data))
		if err := insert.Run(); err != nil {
			t.Fatal(err)
		}
		read.BindInt(1, int64(i))
		var got row
		found, err := read.Row(func(r Row) {
			got = row{Name: string(r.Bytes(0)), Data: string(r.Bytes(1)), Length: r.Int(2)}
		})
		if err != nil || !found {
			t.Fatalf("Row() = %v, %v, want a row", found, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("row %d (-want +got):\n%s", i, diff)
		}
	}
	read.BindInt(1, 99)
	if found, err := read.Row(func(Row) { t.Error("shown") }); found || err != nil {
		t.Errorf("Row() = %v, %v, want none", found, err)
	}
}

// A statement that failed can be run again, and the connection knows whether
// the transaction is still there.
func TestAfterAFailure(t *testing.T) {
	c := open(t)
	run(t, c, "CREATE TABLE t(id INTEGER PRIMARY KEY)")
	insert := prepare(t, c, "INSERT INTO t VALUES(?)")
	run(t, c, "BEGIN IMMEDIATE")
	insert.BindInt(1, 7)
	if err := insert.Run(); err != nil {
		t.Fatal(err)
	}
	err := insert.Run()
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != 1555 || err.Error() != "UNIQUE constraint failed: t.id (SQLite code 1555)" {
		t.Errorf("second insert: %v, want that the constraint failed", err)
	}
	if !c.InTransaction() {
		t.Error("the failure ended the transaction")
	}
	insert.BindInt(1, 8)
	if err := insert.Run(); err != nil {
		t.Errorf("third insert: %v", err)
	}
	run(t, c, "COMMIT")
	if c.InTransaction() {
		t.Error("in a transaction after COMMIT")
	}
	var n int64
	if _, err := prepare(t, c, "SELECT count(*) FROM t").Row(func(r Row) { n = r.Int(0) }); err != nil || n != 2 {
		t.Errorf("%d rows, %v, want 2", n, err)
	}
}

func TestEach(t *testing.T) {
	c := open(t)
	numbers := prepare(t, c, "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x < ?) SELECT x FROM n WHERE x <= ?1")
	for _, want := range [][]int64{{1, 2, 3, 4, 5}, {1, 2}} {
		numbers.BindInt(1, int64(len(want)))
		var got []int64
		if err := numbers.Each(func(r Row) { got = append(got, r.Int(0)) }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	}
}

func TestBindOutOfRange(t *testing.T) {
	c := open(t)
	for name, bind := range map[string]func(*Stmt){
		"int":  func(s *Stmt) { s.BindInt(2, 1) },
		"text": func(s *Stmt) { s.BindText(2, "x") },
		"blob": func(s *Stmt) { s.BindBlob(0, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			s := prepare(t, c, "SELECT ?")
			bind(s)
			if err := s.Run(); err == nil {
				t.Error("a parameter that is not there was bound")
			}
			s.BindInt(1, 5)
			var got int64
			if _, err := s.Row(func(r Row) { got = r.Int(0) }); err != nil || got != 5 {
				t.Errorf("after that: %d, %v, want 5", got, err)
			}
		})
	}
}

func TestPragmas(t *testing.T) {
	c := open(t, "journal_mode(wal)", "synchronous(full)", "cache_size(-1234)")
	got := map[string]string{}
	for _, name := range []string{"journal_mode", "synchronous", "cache_size"} {
		if _, err := prepare(t, c, "PRAGMA "+name).Row(func(r Row) { got[name] = string(r.Bytes(0)) }); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"journal_mode": "wal", "synchronous": "2", "cache_size": "-1234"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pragmas (-want +got):\n%s", diff)
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none", "test.db"), nil); err == nil || !strings.Contains(err.Error(), "unable to open") {
		t.Errorf("open in no folder: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "test.db"), []string{"synchronous("}); err == nil || !strings.HasPrefix(err.Error(), "pragma synchronous(: ") {
		t.Errorf("a broken pragma: %v", err)
	}
	c := open(t)
	if _, err := c.Prepare("INSERT INTO nowhere VALUES(1)"); err == nil || !strings.Contains(err.Error(), "no such table") {
		t.Errorf("a statement about no table: %v", err)
	}
	if err := c.Exec("nonsense"); err == nil || !strings.Contains(err.Error(), "syntax error") {
		t.Errorf("nonsense: %v", err)
	}
}

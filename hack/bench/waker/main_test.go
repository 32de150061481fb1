package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Each instant is answered once it has come, and those that have passed at once.
func TestInstantsAreAnsweredWhenTheyCome(t *testing.T) {
	began := time.Now()
	at := map[int64]time.Time{1: began.Add(60 * time.Millisecond), 2: began.Add(20 * time.Millisecond), 3: began.Add(-time.Hour)}
	var in, out strings.Builder
	for id, t := range at {
		fmt.Fprintln(&in, id, t.UnixNano())
	}
	must.Succeed(t, serve(strings.NewReader(in.String()), &out))
	took := time.Since(began)
	for line := range strings.Lines(out.String()) {
		var id int64
		var late time.Duration
		if _, err := fmt.Sscan(line, &id, &late); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if woke := at[id].Add(late).Sub(began); late < 0 || woke > took {
			t.Errorf("instant %d: late by %v; all took %v", id, late, took)
		}
		delete(at, id)
	}
	if len(at) > 0 {
		t.Errorf("not answered: %v", at)
	}
}

func TestWhatIsNoInstantIsRefused(t *testing.T) {
	if err := serve(strings.NewReader("1 soon\n"), &strings.Builder{}); err == nil {
		t.Error("it is taken")
	}
}

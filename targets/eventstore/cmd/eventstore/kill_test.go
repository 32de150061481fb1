package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const (
	killClients = 8
	// killAfter is how many appends are acknowledged before the program is
	// killed, in the middle of others.
	killAfter = 150
	killTwice = 2
)

// try is one append and its known outcome.
type try struct {
	key  string
	size int
	// first is where it is stored; 0 is not known.
	first int64
}

func (a try) names() []string {
	var names []string
	for i := range a.size {
		names = append(names, fmt.Sprintf("%s#%d", a.key, i))
	}
	return names
}

// send appends once more, and returns where the events are, and whether they
// were there before.
func (a try) send(url string) (first int64, replayed bool, err error) {
	var events []string
	for _, name := range a.names() {
		events = append(events, fmt.Sprintf(`{"type":%q,"data":{"name":%q}}`, name, name))
	}
	path, body := "/events", events[0]
	if a.size > 1 {
		path, body = "/events/batch", "["+strings.Join(events, ",")+"]"
	}
	r, err := http.NewRequest(http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	r.Header.Set("Idempotency-Key", a.key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, false, err
	}
	defer resp.Body.Close()
	var reply struct {
		Position int64
		First    int64 `json:"first_position"`
		Last     int64 `json:"last_position"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return 0, false, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, false, fmt.Errorf("status %d", resp.StatusCode)
	}
	if a.size > 1 && reply.Last != reply.First+int64(a.size)-1 {
		return 0, false, fmt.Errorf("%d events are stored from %d to %d", a.size, reply.First, reply.Last)
	}
	return reply.Position + reply.First, resp.Header.Get("Idempotency-Replayed") == "true", nil
}

// appendUntilKilled lets clients append until the program dies under them, and
// returns every append that was begun.
func appendUntilKilled(p servetest.Service, round int) []try {
	var mu sync.Mutex
	var all []try
	acknowledged := 0
	var wg sync.WaitGroup
	for c := range killClients {
		wg.Go(func() {
			for i := 0; ; i++ {
				a := try{key: fmt.Sprintf("%d/%d/%d", round, c, i), size: 1 + (c+i)%3}
				first, _, err := a.send(p.URL)
				a.first = first
				mu.Lock()
				all = append(all, a)
				if err == nil {
					acknowledged++
				}
				if acknowledged == killAfter {
					_ = p.Stop()
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return all
}

// stored is the log by position: the name that each event has twice.
func stored(t *testing.T, url string) map[int64]string {
	t.Helper()
	status, body := servetest.Ask(t, "GET", url+"/events/stream?from=1", "")
	var events []struct {
		Position int64
		Type     string
		Data     struct{ Name string }
	}
	if err := json.Unmarshal([]byte(body), &events); err != nil || status != 200 {
		t.Fatalf("status %d, %v", status, err)
	}
	log, seen := map[int64]string{}, map[string]bool{}
	for i, e := range events {
		if e.Position != int64(i+1) || e.Type != e.Data.Name || seen[e.Type] {
			t.Fatalf("event %d: %+v: want dense positions, whole events, and each once", i+1, e)
		}
		seen[e.Type] = true
		log[e.Position] = e.Type
	}
	return log
}

// After a kill at any moment all acknowledged appends are there, each append is
// there whole or not at all, and after repeating all of them, acknowledged or not,
// each is in the log once.
func TestKillLosesAndDuplicatesNothing(t *testing.T) {
	for _, group := range []string{"on", "off"} {
		t.Run("group commit "+group, func(t *testing.T) {
			t.Parallel()
			args := []string{"--data-dir=" + t.TempDir(), "--group-commit=" + group, "--port=0"}
			var all []try
			for round := range killTwice {
				all = append(all, appendUntilKilled(servetest.Start(t, args...), round)...)
			}
			p := servetest.Start(t, args...)
			log := stored(t, p.URL)
			want := map[int64]string{}
			known, unknown := 0, 0
			for i, a := range all {
				if a.first > 0 {
					known++
					for j, name := range a.names() {
						if got := log[a.first+int64(j)]; got != name {
							t.Errorf("%s was acknowledged at %d, where %q is", name, a.first+int64(j), got)
						}
					}
				} else {
					unknown++
				}
				first, replayed, err := a.send(p.URL)
				must.Succeed(t, err)
				if a.first > 0 && (first != a.first || !replayed) {
					t.Errorf("%s was acknowledged at %d, and repeated is at %d (replayed: %v)", a.key, a.first, first, replayed)
				}
				if replayed != (log[first] == a.names()[0]) {
					t.Errorf("%s: replayed is %v, though position %d held %q", a.key, replayed, first, log[first])
				}
				all[i].first = first
			}
			if known < killTwice*killAfter || unknown == 0 {
				t.Errorf("%d appends were acknowledged, %d were not: want %d and some", known, unknown, killTwice*killAfter)
			}
			for _, a := range all {
				for j, name := range a.names() {
					want[a.first+int64(j)] = name
				}
			}
			same.As(t, "log", want, stored(t, p.URL))
		})
	}
}

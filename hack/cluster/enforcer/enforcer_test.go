package enforcer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// server is as much of an API server as the enforcer calls.
type server struct {
	*httptest.Server

	mu      sync.Mutex
	version int
	changed chan struct{}     // closed at a change, and replaced
	items   map[string]string // JSON by path
	looked  map[string]int    // how often, by path
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{changed: make(chan struct{}), looked: map[string]int{}, items: map[string]string{}}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// put changes a collection, which ends the watches.
func (s *server) put(path, items string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[path] = items
	s.version++
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *server) looks(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked[path]
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	version, changed, items := fmt.Sprint(s.version), s.changed, s.items[r.URL.Path]
	if !r.URL.Query().Has("watch") {
		s.looked[r.URL.Path]++
	}
	s.mu.Unlock()
	switch {
	case !r.URL.Query().Has("watch"):
		fmt.Fprintf(w, `{"metadata":{"resourceVersion":%q},"items":[%s]}`, version, items)
	case r.URL.Query().Get("resourceVersion") == version:
		select {
		case <-changed:
		case <-r.Context().Done():
		}
	}
}

// run runs an enforcer until the test ends, and returns what it loads. The first
// so many loads fail.
func run(t *testing.T, s *server, failures int) <-chan string {
	t.Helper()
	loads := make(chan string)
	ctx, stop := context.WithCancel(context.Background())
	e := &Enforcer{
		Server: s.URL, TLS: s.Client().Transport.(*http.Transport).TLSClientConfig,
		Say: func(format string, args ...any) { t.Logf(format, args...) },
		Load: func(script string) error {
			select {
			case loads <- script:
			case <-ctx.Done():
			}
			if failures--; failures >= 0 {
				return errors.New("nft: not now")
			}
			return nil
		},
	}
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return loads
}

func next(t *testing.T, loads <-chan string) string {
	t.Helper()
	select {
	case script := <-loads:
		return script
	case <-time.After(time.Minute):
		t.Fatal("nothing is loaded within a minute")
		return ""
	}
}

const (
	denyAll = `{"metadata":{"name":"deny","namespace":"shop"},"spec":{"podSelector":{},"policyTypes":["Ingress"]}}`
	somePod = `{"metadata":{"name":"web","namespace":"shop"},"status":{"phase":"Running","podIP":"198.19.1.2"}}`
)

func TestTheFirewallFollowsThePolicies(t *testing.T) {
	s := newServer(t)
	s.put(podsPath, somePod)
	loads := run(t, s, 0)
	if diff := cmp.Diff(script(nil), next(t, loads)); diff != "" {
		t.Errorf("at first, what an earlier enforcer has left goes (-want +got):\n%s", diff)
	}
	if n := s.looks(podsPath); n > 0 {
		t.Errorf("without a policy it looked at pods %d times, want never", n)
	}
	s.put(policiesPath, denyAll)
	if got := next(t, loads); !strings.Contains(got, "chain ingress-198.19.1.2 {") {
		t.Errorf("a policy came and the script is\n%s", got)
	}
	s.put(podsPath, strings.Replace(somePod, "198.19.1.2", "198.19.2.2", 1))
	if got := next(t, loads); !strings.Contains(got, "chain ingress-198.19.2.2 {") {
		t.Errorf("the pod moved and the script is\n%s", got)
	}
	s.put(policiesPath, "")
	if diff := cmp.Diff(script(nil), next(t, loads)); diff != "" {
		t.Errorf("the policy went (-want +got):\n%s", diff)
	}
}

// Loading is what costs: a change that is none of the rules must not cause it.
func TestWhatChangesNoRuleLoadsNone(t *testing.T) {
	s := newServer(t)
	s.put(podsPath, somePod)
	s.put(policiesPath, denyAll)
	loads := run(t, s, 0)
	before, looks := next(t, loads), s.looks(podsPath)
	s.put(podsPath, strings.Replace(somePod, `"name":"web"`, `"name":"web","resourceVersion":"2"`, 1))
	for deadline := time.Now().Add(time.Minute); s.looks(podsPath) == looks && time.Now().Before(deadline); {
		select {
		case again := <-loads:
			t.Fatalf("the same is loaded again:\n%s", again)
		case <-time.After(time.Millisecond):
		}
	}
	s.put(podsPath, "")
	if got := next(t, loads); got == before {
		t.Error("a change of nothing was loaded")
	}
}

func TestALoadThatFailsIsDoneAgain(t *testing.T) {
	loads := run(t, newServer(t), 1)
	if first, second := next(t, loads), next(t, loads); first != second {
		t.Errorf("second load is\n%s, want\n%s", second, first)
	}
}

func TestAServerThatIsNotOursIsRefused(t *testing.T) {
	s := newServer(t)
	ctx, stop := context.WithCancel(t.Context())
	var said string
	e := &Enforcer{Server: s.URL, TLS: &tls.Config{}, Say: func(format string, args ...any) {
		said = fmt.Sprintf(format, args...)
		stop()
	}}
	e.Run(ctx)
	if !strings.Contains(said, "certificate") {
		t.Errorf("said %q, want that the certificate is unknown", said)
	}
}

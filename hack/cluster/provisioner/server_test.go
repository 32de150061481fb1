package provisioner

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// server is as much of an API server as the provisioner calls.
type server struct {
	*httptest.Server

	mu      sync.Mutex
	version int
	changed chan struct{} // closed at a change, and replaced
	claims  []claim
	volumes []volume
	fail    map[string]int // status of the next answer, by method
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{changed: make(chan struct{}), fail: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+claimsPath, func(w http.ResponseWriter, r *http.Request) {
		s.look(w, r, func() any { return s.claims })
	})
	mux.HandleFunc("GET "+volumesPath, func(w http.ResponseWriter, r *http.Request) {
		s.look(w, r, func() any { return s.volumes })
	})
	mux.HandleFunc("POST "+volumesPath, s.post)
	mux.HandleFunc("DELETE "+volumesPath+"/{name}", s.delete)
	s.Server = httptest.NewUnstartedServer(mux)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *server) identity() *tls.Config {
	return s.Client().Transport.(*http.Transport).TLSClientConfig
}

// change changes what the server has, which ends the watches.
func (s *server) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	s.version++
	s.poke()
}

// poke lets everyone look again who waits for a change. It needs the lock.
func (s *server) poke() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// failed writes the answer that a test has asked for, if any.
func (s *server) failed(w http.ResponseWriter, method string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.fail[method]
	delete(s.fail, method)
	if status != 0 {
		http.Error(w, "as the test wants it", status)
	}
	return status != 0
}

func (s *server) look(w http.ResponseWriter, r *http.Request, items func() any) {
	if r.URL.Query().Has("watch") {
		s.watch(w, r)
		return
	}
	if s.failed(w, http.MethodGet) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := map[string]any{"items": items(), "metadata": map[string]string{"resourceVersion": strconv.Itoa(s.version)}}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// watch says something as soon as the version is not the one of the request.
func (s *server) watch(w http.ResponseWriter, r *http.Request) {
	if s.failed(w, "WATCH") {
		return
	}
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		s.mu.Lock()
		version, changed := strconv.Itoa(s.version), s.changed
		s.mu.Unlock()
		if version != r.URL.Query().Get("resourceVersion") {
			break
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
	_, _ = w.Write([]byte("{}\n"))
}

func (s *server) post(w http.ResponseWriter, r *http.Request) {
	if s.failed(w, http.MethodPost) {
		return
	}
	var v volume
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.change(func() { s.volumes = append(s.volumes, v) })
	w.WriteHeader(http.StatusCreated)
}

func (s *server) delete(w http.ResponseWriter, r *http.Request) {
	if s.failed(w, http.MethodDelete) {
		return
	}
	name := path.Base(r.URL.Path)
	s.change(func() {
		s.volumes = slices.DeleteFunc(s.volumes, func(v volume) bool { return v.Metadata.Name == name })
	})
}

// await waits until what the server has is as it should be.
func (s *server) await(t *testing.T, what string, as func() bool) {
	t.Helper()
	for {
		s.mu.Lock()
		ok, changed := as(), s.changed
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

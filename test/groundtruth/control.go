package groundtruth

import (
	"encoding/json"
	"net/http"
)

// Control is an HTTP handler through which another process reads what the
// server did: GET /counters, GET /records, and PUT /latency?is=fixed:10ms for
// SetLatency (without a value: at once).
func (s *Server) Control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /counters", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Counters()) })
	mux.HandleFunc("GET /records", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Records()) })
	mux.HandleFunc("PUT /latency", func(w http.ResponseWriter, r *http.Request) {
		text := r.FormValue("is")
		if text == "" {
			s.SetLatency(nil)
			return
		}
		l, err := ParseLatency(text)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.SetLatency(l)
	})
	return mux
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	// What fails here is the connection; the reader sees that itself.
	_ = json.NewEncoder(w).Encode(v)
}

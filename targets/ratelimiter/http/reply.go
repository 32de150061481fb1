package http

import (
	"encoding/json"
	"net/http"
)

// reply is a whole answer as a value: nothing is sent until it is complete.
type reply struct {
	status  int
	headers []header
	body    any
}

type header struct{ name, value string }

type state struct {
	Status string `json:"status"`
}

type problem struct {
	Error string `json:"error"`
}

func failure(status int, sentence string) reply {
	return reply{status: status, body: problem{sentence}}
}

func (r reply) write(w http.ResponseWriter) {
	for _, h := range r.headers {
		w.Header().Set(h.name, h.value)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(r.status)
	// The bodies are plain structs, which always encode; what is left is a
	// client that went away, whom nothing can be told.
	_ = json.NewEncoder(w).Encode(r.body)
}

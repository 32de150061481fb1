package reply

import (
	"encoding/json"
	"net/http"
)

// Reply is a whole answer as a value: nothing is sent until it is complete.
type Reply struct {
	Status  int
	Headers []Header
	// Body is written as JSON: a struct, a map or a slice of such as always
	// encode. Nil is no body.
	Body any
}

// Header is one header of a reply.
type Header struct{ Name, Value string }

// State says in a word how the service is.
type State struct {
	Status string `json:"status"`
}

// Problem is an error in a sentence.
type Problem struct {
	Error string `json:"error"`
}

// Failure is a reply with an error.
func Failure(status int, sentence string) Reply {
	return Reply{Status: status, Body: Problem{sentence}}
}

// Write sends the reply.
func (r Reply) Write(w http.ResponseWriter) {
	for _, h := range r.Headers {
		w.Header().Set(h.Name, h.Value)
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Body == nil {
		w.WriteHeader(r.Status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.Status)
	// The only error left is a client that disconnected, which no reply can reach.
	_ = json.NewEncoder(w).Encode(r.Body)
}

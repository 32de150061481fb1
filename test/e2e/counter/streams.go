package main

import (
	"fmt"
	"net/http"
	"time"
)

// maxEvents bounds a stream.
const maxEvents = 100_000

// stream counts a request under NAME, and answers it by a stream of server-sent events: as many as events
// says, the first after first and each later one after every. After so many events as pause says, it waits
// for pausefor; after so many as abort says, the connection is reset. [DONE] ends it, unless end is no. Each event is
// counted under NAME-events before it is written, and the end under NAME-whole once all was.
func (t *target) stream(w http.ResponseWriter, r *http.Request, name string) {
	q := r.URL.Query()
	first, _ := time.ParseDuration(q.Get("first"))
	every, _ := time.ParseDuration(q.Get("every"))
	pause, _ := time.ParseDuration(q.Get("pausefor"))
	if err := t.counts.add(name, received); err != nil {
		http.Error(w, err.Error(), http.StatusInsufficientStorage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := min(number(q.Get("events")), maxEvents)
	if q.Get("end") != "no" {
		events++
	}
	for n := range events {
		before := every
		if n == 0 {
			before = first
		} else if n == number(q.Get("pause")) {
			before = pause
		}
		wait(r.Context(), nil, before)
		if r.Context().Err() != nil || n > 0 && n == number(q.Get("abort")) || t.counts.add(name+"-events", received) != nil {
			panic(http.ErrAbortHandler)
		}
		data := fmt.Sprint(n)
		if n == events-1 && q.Get("end") != "no" {
			data = "[DONE]"
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data) // what fails is the connection
		_ = http.NewResponseController(w).Flush()
	}
	if t.counts.add(name+"-whole", received) != nil {
		panic(http.ErrAbortHandler)
	}
}

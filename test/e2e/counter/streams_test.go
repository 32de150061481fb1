package main

import (
	"io"
	"net/http"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestStreamsAreCounted(t *testing.T) {
	x, url := start(t, t.TempDir())
	for _, tt := range []struct {
		name, query, want    string
		events, whole, fails int64
	}{
		{name: "ended", query: "events=2", want: "data: 0\n\ndata: 1\n\ndata: [DONE]\n\n", events: 3, whole: 1},
		{name: "early", query: "events=2&end=no", want: "data: 0\n\ndata: 1\n\n", events: 2, whole: 1},
		{name: "paused", query: "events=2&pause=1&pausefor=1ms", want: "data: 0\n\ndata: 1\n\ndata: [DONE]\n\n", events: 3, whole: 1},
		{name: "aborted", query: "events=5&abort=2", events: 2, fails: 1},
		{name: "none", query: "events=0&end=no", want: "", whole: 1},
	} {
		response, err := http.Get(url + "/" + tt.name + "/stream?first=1ms&every=1ms&" + tt.query)
		must.Succeed(t, err)
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		switch {
		case tt.fails > 0 && err == nil:
			t.Errorf("%s: the whole of %q came, want an error", tt.name, got)
		case tt.fails == 0 && (err != nil || string(got) != tt.want):
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
		mustCount(t, x, tt.name, count{Received: 1})
		mustCount(t, x, tt.name+"-events", count{Received: tt.events})
		mustCount(t, x, tt.name+"-whole", count{Received: tt.whole})
	}
}

package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The whole program answers, checks itself and counts.
func TestRun(t *testing.T) {
	s := servetest.Run(t, func(ctx context.Context, log io.Writer) error {
		return run(ctx, []string{"--port=0", "--step=1ms", "--per-sequence=0s", "--per-prompt-token=0s"}, servetest.Environment(nil), log)
	})
	status, text := servetest.Ask(t, "POST", s.URL+"/v1/completions", `{"prompt": "12345678", "max_tokens": 5, "stream": true}`)
	if events := strings.Count(text, "data: "); status != 200 || events != 6 || !strings.HasSuffix(text, "data: [DONE]") {
		t.Errorf("answered %d with %d events:\n%s", status, events, text)
	}
	must.Succeed(t, run(t.Context(), []string{"check", "--url=" + s.URL}, servetest.Environment(nil), io.Discard))
	_, page := servetest.Ask(t, "GET", s.URL+"/metrics", "")
	for series, want := range map[string]int{
		`tokens_requests_total{outcome="finished"}`: 2, "tokens_prompt_tokens_total": 4, "tokens_generated_tokens_total": 8, "tokens_requests_running": 0,
	} {
		if got := servetest.Counted(t, page, series); got != want {
			t.Errorf("%s is %d, want %d", series, got, want)
		}
	}
	if _, text := servetest.Ask(t, "GET", s.URL+"/version", ""); !strings.Contains(text, `"slots":8,"queue":64,`) || !strings.Contains(text, `"stepMicros":1000,`) {
		t.Errorf("/version is %s", text)
	}
}

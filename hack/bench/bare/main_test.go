package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Every request gets the configured reply, and its body is read.
func TestRequestsGetTheGivenReply(t *testing.T) {
	tests := map[string]struct {
		reply Reply
		want  http.Header
	}{
		"a redirect": {
			reply: Reply{Status: 302, Header: http.Header{"Location": {"https://example.com/"}, "Cache-Control": {"no-store"}}},
			want:  http.Header{"Location": {"https://example.com/"}, "Cache-Control": {"no-store"}, "Content-Length": {"0"}},
		},
		"a body": {
			reply: Reply{Status: 201, Header: http.Header{"Content-Type": {"text/plain"}}, Body: []byte("made\n")},
			want:  http.Header{"Content-Type": {"text/plain"}, "Content-Length": {"5"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			url := start(t, tt.reply)
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				r, err := http.NewRequestWithContext(t.Context(), method, url+"/any", strings.NewReader(strings.Repeat("x", 1<<20)))
				must.Succeed(t, err)
				resp, err := http.DefaultTransport.RoundTrip(r)
				must.Succeed(t, err)
				body, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				resp.Header.Del("Date")
				if err != nil || resp.StatusCode != tt.reply.Status || string(body) != string(tt.reply.Body) {
					t.Errorf("%s: %d %q, %v; want %d %q", method, resp.StatusCode, body, err, tt.reply.Status, tt.reply.Body)
				}
				same.As(t, method, tt.want, resp.Header)
			}
		})
	}
}

// start runs the command until the test ends.
func start(t *testing.T, reply Reply) (url string) {
	t.Helper()
	line, err := json.Marshal(reply)
	must.Succeed(t, err)
	stdin, say := io.Pipe()
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(stdin, stdout) }()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		_ = say.Close()
		must.Report(t, "run", <-ended)
	})
	if _, err := say.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(out).ReadBytes('\n')
	must.Succeed(t, err)
	var started Started
	must.Succeed(t, json.Unmarshal(answer, &started))
	return started.URL
}

func TestWhatIsNoReplyIsRefused(t *testing.T) {
	tests := map[string]struct{ input, want string }{
		"nothing":   {"", "read the reply from standard input: EOF"},
		"no JSON":   {"x\n", "reply: invalid character"},
		"no status": {"{}\n", "status is 0: use 200 to 999"},
		"interim":   {"{\"status\":199}\n", "status is 199: use 200 to 999"},
		"too large": {"{\"status\":1000}\n", "status is 1000: use 200 to 999"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(strings.NewReader(tt.input), io.Discard)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("run = %v, want %s", err, tt.want)
			}
		})
	}
}

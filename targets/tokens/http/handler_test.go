package http

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
	"github.com/loadtest-dev/loadtest-operator/test/memory"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// small has times that are easy to add.
var small = tokens.Parameters{Slots: 1, Queue: 1, Context: 100, PerPromptToken: time.Millisecond, Step: 7 * time.Millisecond, PerSequence: 3 * time.Millisecond}

func newHandler(t testing.TB, p tokens.Parameters) *Handler {
	t.Helper()
	service, err := tokens.NewService(p)
	must.Succeed(t, err)
	h, err := NewHandler(Config{
		Service: service, Version: "v1.2.3", InstanceID: "pod-abc123", Now: func() time.Time { return time.Unix(1700000000, 0) },
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") }),
	})
	must.Succeed(t, err)
	return h
}

// page is what a handler answers without a connection.
func page(h http.Handler, method, path, body string) (status int, text string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, strings.TrimSuffix(w.Body.String(), "\n")
}

func TestNewHandlerRefusesIncompleteConfig(t *testing.T) {
	accept := func(c Config) error { _, err := NewHandler(c); return err }
	servetest.Required(t, newHandler(t, small).Config, accept, "Service", "Metrics", "Now")
}

func TestPagesTellStateAndConfiguration(t *testing.T) {
	h := newHandler(t, small)
	ask := func(path string) string {
		status, text := page(h, "GET", path, "")
		return fmt.Sprint(status, " ", text)
	}
	for path, want := range map[string]string{
		"/health":  `200 {"status":"healthy"}`,
		"/healthz": `200 {"status":"healthy"}`,
		"/ready":   `200 {"status":"ready"}`,
		"/metrics": "200 metrics",
		"/version": `200 {"version":"v1.2.3","instanceId":"pod-abc123","slots":1,"queue":1,"context":100,"perPromptTokenMicros":1000,"stepMicros":7000,"perSequenceMicros":3000}`,
		"/v1/models": `404 {"error":{"message":"No such page: use /v1/chat/completions, /v1/completions, /health, /ready, /version or /metrics.",` +
			`"type":"invalid_request_error","param":null,"code":"unknown_url"}}`,
		"/v1/completions": `405 {"error":{"message":"Only POST is allowed on /v1/completions.","type":"invalid_request_error","param":null,"code":"method_not_supported"}}`,
	} {
		same.As(t, path, want, ask(path))
	}
	h.Drain()
	same.As(t, "/ready of one that drains", `503 {"status":"draining"}`, ask("/ready"))
}

const (
	chatPath       = "/v1/chat/completions"
	completionPath = "/v1/completions"
)

func TestWholeAnswers(t *testing.T) {
	for body, want := range map[string]string{
		`{"messages":[{"role":"user","content":"eight by"},{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":null}],"model":"m","max_tokens":3}`: `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m",` +
			`"choices":[{"index":0,"message":{"role":"assistant","content":"These words mean"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":3,"total_tokens":6}}`,
		`{"prompt":"x","max_tokens":2,"max_completion_tokens":1,"stream":false,"temperature":0.5}`: `{"id":"cmpl-1","object":"text_completion","created":1700000000,"model":"stand-in",` +
			`"choices":[{"index":0,"text":"These","finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			path := completionPath
			if strings.Contains(body, "messages") {
				path = chatPath
			}
			start := time.Now()
			status, text := page(newHandler(t, small), "POST", path, body)
			same.As(t, path, fmt.Sprint(200, want), fmt.Sprint(status, text))
			var usage struct {
				Usage struct{ Prompt, Completion int }
			}
			must.Succeed(t, json.Unmarshal([]byte(strings.ReplaceAll(text, "_tokens", "")), &usage))
			if took, want := time.Since(start), time.Duration(usage.Usage.Prompt+10*usage.Usage.Completion)*time.Millisecond; took != want {
				t.Errorf("%s took %v, want %v", path, took, want)
			}
		})
	}
}

// Without max_tokens an answer has 64 tokens, or as many as the context has left.
func TestAnswersHaveALength(t *testing.T) {
	for prompt, want := range map[int]int{1: 64, 60: 40, 99: 1} {
		a, p := (&document{Prompt: json.RawMessage(`"` + strings.Repeat("four", prompt) + `"`)}).asks(completion, 100)
		if p != nil || a.tokens != want {
			t.Errorf("after %d tokens there are %d (%v), want %d", prompt, a.tokens, p, want)
		}
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	const user = `"messages":[{"role":"user","content":"x"}]`
	tests := map[string]struct {
		path, body string
		status     int
		param      string
		message    string
	}{
		"nothing":              {path: chatPath, body: "", status: 400, message: "The body is no JSON document: unexpected end of JSON input."},
		"no JSON":              {path: chatPath, body: "max_tokens=3", status: 400, message: "The body is no JSON document: invalid character 'm' looking for beginning of value."},
		"two documents":        {path: chatPath, body: "{} {}", status: 400, message: "The body is no JSON document: invalid character '{' after top-level value."},
		"a list":               {path: chatPath, body: "[]", status: 400, message: "Invalid value for 'the body': this array is not expected there."},
		"null":                 {path: chatPath, body: "null", status: 400, param: "messages", message: "'messages' must have at least one message."},
		"deep":                 {path: chatPath, body: strings.Repeat("[", 200_000), status: 400, message: "The body is no JSON document: invalid character '[' exceeded max depth."},
		"no messages":          {path: chatPath, body: `{"messages":[]}`, status: 400, param: "messages", message: "'messages' must have at least one message."},
		"a text as messages":   {path: chatPath, body: `{"messages":"x"}`, status: 400, param: "messages", message: "Invalid value for 'messages': this string is not expected there."},
		"no role":              {path: chatPath, body: `{"messages":[{"content":"x"}]}`, status: 400, param: "messages[0].role", message: "Missing required parameter: 'messages[0].role'."},
		"a number as content":  {path: chatPath, body: `{"messages":[{"role":"user","content":"x"},{"role":"user","content":3}]}`, status: 400, param: "messages[1].content", message: "'messages[1].content' must be a string or a list of parts."},
		"a picture":            {path: chatPath, body: `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, status: 400, param: "messages[0].content", message: "'messages[0].content' has a part of another type than text, which this server does not take."},
		"no prompt":            {path: completionPath, body: `{` + user + `}`, status: 400, param: "prompt", message: "Missing required parameter: 'prompt'."},
		"several prompts":      {path: completionPath, body: `{"prompt":["x","y"]}`, status: 400, param: "prompt", message: "'prompt' must be a string."},
		"negative":             {path: chatPath, body: `{"max_tokens":-1,` + user + `}`, status: 400, param: "max_tokens", message: "'max_tokens' is -1: use 1 or more."},
		"none":                 {path: chatPath, body: `{"max_completion_tokens":0,"max_tokens":3,` + user + `}`, status: 400, param: "max_completion_tokens", message: "'max_completion_tokens' is 0: use 1 or more."},
		"a fraction":           {path: chatPath, body: `{"max_tokens":1.5,` + user + `}`, status: 400, param: "max_tokens", message: "Invalid value for 'max_tokens': this number is not expected there."},
		"beyond all numbers":   {path: chatPath, body: `{"max_tokens":` + strings.Repeat("9", 1000) + `,` + user + `}`, status: 400, param: "max_tokens", message: "Invalid value for 'max_tokens': this number is not expected there."},
		"the largest number":   {path: chatPath, body: `{"max_tokens":9223372036854775807,` + user + `}`, status: 400, param: "messages", message: "This model's maximum context length is 100 tokens. The prompt has 1 tokens and the request asks for 9223372036854775807 more. Reduce one of them."},
		"one too many":         {path: completionPath, body: `{"max_tokens":100,"prompt":"x"}`, status: 400, param: "prompt", message: "This model's maximum context length is 100 tokens. The prompt has 1 tokens and the request asks for 100 more. Reduce one of them."},
		"a long prompt":        {path: completionPath, body: `{"prompt":"` + strings.Repeat("x", 400) + `"}`, status: 400, param: "prompt", message: "This model's maximum context length is 100 tokens. The prompt has 100 tokens and the request asks for 1 more. Reduce one of them."},
		"a huge body":          {path: completionPath, body: `{"prompt":"` + strings.Repeat("x", 2<<20) + `"}`, status: 413, message: "The body has more than 1048576 bytes."},
		"several answers":      {path: chatPath, body: `{"n":2,` + user + `}`, status: 400, param: "n", message: "'n' is 2: this server gives 1 answer to a request."},
		"a long name":          {path: chatPath, body: `{"model":"` + strings.Repeat("x", 257) + `",` + user + `}`, status: 400, param: "model", message: "'model' has 257 bytes: use 256 or fewer."},
		"options of no stream": {path: chatPath, body: `{"stream_options":{"include_usage":true},` + user + `}`, status: 400, param: "stream_options", message: "'stream_options' is only allowed when 'stream' is true."},
		"a word as a switch":   {path: chatPath, body: `{"stream":"yes",` + user + `}`, status: 400, param: "stream", message: "Invalid value for 'stream': this string is not expected there."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHandler(t, small)
			status, text := page(h, "POST", tt.path, tt.body)
			var got struct{ Error problem }
			must.Succeed(t, json.Unmarshal([]byte(text), &got))
			param := ""
			if got.Error.Param != nil {
				param = *got.Error.Param
			}
			if status != tt.status || got.Error.Message != tt.message || param != tt.param || got.Error.Type != "invalid_request_error" {
				t.Errorf("answered %d %s\nwant %d, %q: %s", status, text, tt.status, tt.param, tt.message)
			}
			same.As(t, "counts", tokens.Counts{}, h.Service.Counts())
		})
	}
}

// Bodies that would take too much memory together are refused, and what was read of them is free again.
func TestBodiesOfAllRequestsAreLimited(t *testing.T) {
	h := newHandler(t, small)
	const body = `{"prompt":"x","max_tokens":1}`
	h.bodies.Store(bodiesInFlight - int64(len(body)) + 1)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", completionPath, strings.NewReader(body)))
	want := `503 1 {"error":{"message":"The server is overloaded: requests of more than 4194304 bytes are being read at once. Try again later.",` +
		`"type":"server_error","param":null,"code":"server_overloaded"}}`
	same.As(t, "answer", want, fmt.Sprint(w.Code, " ", w.Header().Get("Retry-After"), " ", strings.TrimSpace(w.Body.String())))
	h.bodies.Add(-1)
	if status, text := page(h, "POST", completionPath, body); status != 200 {
		t.Errorf("the next one is answered %d %s", status, text)
	}
	same.As(t, "bytes that this request still holds", int64(0), h.bodies.Load()-bodiesInFlight+int64(len(body)))
}

// served serves a handler in memory, and returns a client.
func served(t *testing.T, h http.Handler) (client *http.Client, end func()) {
	t.Helper()
	lis := memory.Listen()
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(lis) }()
	transport := &http.Transport{DialContext: lis.Dial}
	return &http.Client{Transport: transport}, func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-ended
	}
}

// timed are the events of a stream, each with the time after a start at which it came.
func timed(t *testing.T, resp *http.Response, start time.Time) (events []string) {
	t.Helper()
	defer resp.Body.Close()
	b := make([]byte, 1<<20)
	for {
		n, err := resp.Body.Read(b)
		for text := range strings.SplitSeq(strings.TrimSuffix(string(b[:n]), "\n\n"), "\n\n") {
			if text != "" {
				events = append(events, fmt.Sprint(time.Since(start), " ", text))
			}
		}
		if err == io.EOF {
			return events
		}
		must.Succeed(t, err)
	}
}

func post(ctx context.Context, t *testing.T, client *http.Client, path, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://tokens"+path, strings.NewReader(body))
	must.Succeed(t, err)
	resp, err := client.Do(r)
	must.Succeed(t, err)
	return resp
}

func TestStreams(t *testing.T) {
	const begin = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":`
	const text = `data: {"id":"cmpl-1","object":"text_completion","created":1700000000,"model":"stand-in","choices":`
	for body, want := range map[string][]string{
		`{"messages":[{"role":"user","content":"20 bytes of a prompt"}],"model":"m","max_tokens":2,"stream":true}`: {
			`15ms ` + begin + `[{"index":0,"delta":{"role":"assistant","content":"These"},"finish_reason":null}]}`,
			`25ms ` + begin + `[{"index":0,"delta":{"content":" words"},"finish_reason":"length"}]}`,
			`25ms data: [DONE]`,
		},
		`{"messages":[{"role":"user","content":""}],"model":"m","max_tokens":1,"stream":true,"stream_options":{"include_usage":true}}`: {
			`10ms ` + begin + `[{"index":0,"delta":{"role":"assistant","content":"These"},"finish_reason":"length"}],"usage":null}`,
			`10ms ` + begin + `[],"usage":{"prompt_tokens":0,"completion_tokens":1,"total_tokens":1}}`,
			`10ms data: [DONE]`,
		},
		`{"prompt":"x","max_tokens":2,"stream":true}`: {
			`11ms ` + text + `[{"index":0,"text":"These","finish_reason":null}]}`,
			`21ms ` + text + `[{"index":0,"text":" words","finish_reason":"length"}]}`,
			`21ms data: [DONE]`,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, end := served(t, newHandler(t, small))
			defer end()
			path := completionPath
			if strings.Contains(body, "messages") {
				path = chatPath
			}
			start := time.Now()
			resp := post(t.Context(), t, client, path, body)
			if headed := time.Since(start); headed != 0 || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
				t.Errorf("answered %s, %v after %v; want the head at once", resp.Status, resp.Header, headed)
			}
			same.As(t, body, want, timed(t, resp, start))
		})
	}
}

// What is full answers so; a client that goes away makes room, in its slot and in the queue,
// with a stream and without.
func TestFullServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, small)
		client, end := served(t, h)
		defer end()
		const stream, whole = `{"prompt":"x","stream":true}`, `{"prompt":"x"}`
		first, leaveFirst := context.WithCancel(t.Context())
		second, leaveSecond := context.WithCancel(t.Context())
		_ = post(first, t, client, completionPath, stream).Body
		go func() {
			r, err := http.NewRequestWithContext(second, "POST", "http://tokens"+completionPath, strings.NewReader(whole))
			if err == nil {
				_, err = client.Do(r)
			}
			if err == nil {
				t.Error("a request whose client left is answered")
			}
		}()
		synctest.Wait()
		resp := post(t.Context(), t, client, completionPath, stream)
		text, err := io.ReadAll(resp.Body)
		must.Succeed(t, err)
		_ = resp.Body.Close()
		want := `429 1 {"error":{"message":"The server is full: 1 requests have a slot and 1 wait for one. Try again later.",` +
			`"type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`
		same.As(t, "answer", want, fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Retry-After"), " ", strings.TrimSpace(string(text))))
		leaveFirst()
		leaveSecond()
		synctest.Wait()
		same.As(t, "counts", tokens.Counts{Refused: 1, Accepted: 2, Abandoned: 2, PromptTokens: 2}, h.Service.Counts())
		if events := timed(t, post(t.Context(), t, client, completionPath, stream), time.Now()); len(events) != 65 {
			t.Errorf("then a client has %d events, want 64 and the last", len(events))
		}
	})
}

// A client that reads nothing is given up.
func TestClientsThatDoNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := small
		p.Context = 10_000
		client, end := served(t, newHandler(t, p))
		defer end()
		resp := post(t.Context(), t, client, completionPath, `{"prompt":"x","max_tokens":9000,"stream":true}`)
		<-time.After(time.Hour)
		if _, err := io.Copy(io.Discard, resp.Body); err == nil {
			t.Error("after an hour a stream that was not read is complete")
		}
		_ = resp.Body.Close()
	})
}

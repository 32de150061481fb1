package http

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whatever the body, a request is read within its bounds, or refused with an error in
// OpenAI's form.
func FuzzRead(f *testing.F) {
	for _, body := range []string{
		`{"messages":[{"role":"user","content":"x"}],"max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}`,
		`{"prompt":"x","max_completion_tokens":100,"n":1,"model":"m"}`, `{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
		"", "[", "null", `{"prompt":null}`, `{"max_tokens":-9223372036854775808,"prompt":"x"}`,
	} {
		f.Add(body)
	}
	h := newHandler(f, small)
	f.Fuzz(func(t *testing.T, body string) {
		for _, k := range []kind{chat, completion} {
			w := httptest.NewRecorder()
			a, p := h.read(w, httptest.NewRequest("POST", "/", strings.NewReader(body)), k)
			if p == nil {
				if a.prompt < 0 || a.tokens < 1 || a.prompt+a.tokens > small.Context || len(a.model) > maxModel {
					t.Errorf("%q asks for %+v", body, a)
				}
				continue
			}
			p.write(w)
			var got struct{ Error problem }
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code < 400 || w.Code > 499 || got.Error.Message == "" || w.Body.Len() > 2000 {
				t.Errorf("%q is answered %d with %d bytes: %.200s", body, w.Code, w.Body.Len(), w.Body)
			}
		}
	})
}

package source

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

func TestTokensAreThoseThatAnEventSays(t *testing.T) {
	s, err := New(Config{Requests: []Request{{
		Name: "chat", Method: "POST", Path: "/", Weight: 1, Stream: &transport.Stream{}, Tokens: Tokens{Input: ".usage.prompt_tokens", Output: ".usage.completion_tokens"},
	}}})
	if err != nil || s.Stream(0).Keep == 0 {
		t.Fatal(err, s.Stream(0))
	}
	for data, want := range map[string]struct {
		input, output int64
		ok            bool
	}{
		`{"usage": {"prompt_tokens": 12, "completion_tokens": 34}}`:         {12, 34, true},
		`{"usage": {"prompt_tokens": 0, "completion_tokens": 1073741824}}`:  {0, 1 << 30, true},
		`{"usage": {"prompt_tokens": 12, "completion_tokens": 1073741825}}`: {},
		`{"usage": {"prompt_tokens": 12, "completion_tokens": -1}}`:         {},
		`{"usage": {"prompt_tokens": 12, "completion_tokens": 1.5}}`:        {},
		`{"usage": {"prompt_tokens": 12, "completion_tokens": "34"}}`:       {},
		`{"usage": {"prompt_tokens": 12}}`:                                  {},
		`{"usage": null}`:                                                   {},
		`{"usage": {"prompt_tokens": 12, "completion_tokens": 34}`:          {},
		``:                         {},
		strings.Repeat("[", 1<<20): {},
		`{"usage": {"prompt_tokens": 12, "completion_tokens": 99999999999999999999}}`: {},
	} {
		input, output, ok := s.Tokens(0, &transport.Response{EventData: []byte(data)})
		if ok != want.ok || ok && (input != want.input || output != want.output) {
			t.Errorf("%.80s: %d, %d, %v, want %+v", data, input, output, ok, want)
		}
	}
}

func TestTokensAreRefused(t *testing.T) {
	for want, r := range map[string]Request{
		"tokens: only a stream has them":  {Tokens: Tokens{Output: ".n"}},
		`tokens.input: "n" is not a path`: {Stream: &transport.Stream{}, Tokens: Tokens{Input: "n"}},
	} {
		r.Name, r.Method, r.Path, r.Weight = "chat", "GET", "/", 1
		if _, err := New(Config{Requests: []Request{r}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

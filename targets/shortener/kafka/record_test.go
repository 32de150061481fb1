package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var (
	someClick = shortener.Click{
		ID: "019b7c2f-5a3d-7000-8000-0123456789ab", Code: "abc",
		At: time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC),
	}
	someRecord = `{"id":"019b7c2f-5a3d-7000-8000-0123456789ab","code":"abc","at":"2026-01-02T03:04:05.678901Z"}`
)

func TestEncode(t *testing.T) {
	got, err := encode(someClick)
	must.Succeed(t, err)
	same.As(t, "record", someRecord, string(got))
	if _, err := encode(shortener.Click{At: time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("a time that JSON cannot hold was encoded")
	}
}

func TestDecode(t *testing.T) {
	got, err := decode([]byte(someRecord))
	must.Succeed(t, err)
	same.As(t, "click", someClick, got)
	tests := map[string]struct{ value, want string }{
		"nothing":     {value: "", want: "decode click: unexpected end"},
		"no JSON":     {value: "click", want: "decode click: invalid character"},
		"no object":   {value: "[]", want: "decode click: json: cannot unmarshal array"},
		"not a time":  {value: strings.Replace(someRecord, "2026", "soon", 1), want: "decode click: parsing time"},
		"no id":       {value: strings.Replace(someRecord, `"id"`, `"key"`, 1), want: `id "" of a click`},
		"not a code":  {value: strings.Replace(someRecord, "abc", "a b", 1), want: `code "a b" of a click`},
		"empty click": {value: "{}", want: `id "" of a click`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := decode([]byte(tt.value))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one that says %q", err, tt.want)
			}
		})
	}
}

package shortener_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestParseURL(t *testing.T) {
	long := "https://example.com/" + strings.Repeat("a", shortener.MaxURLLength-len("https://example.com/"))
	tests := map[string]struct {
		raw, want string
		err       error
	}{
		"as it is":                      {raw: "https://example.com/a?b=c&d=%20#e", want: "https://example.com/a?b=c&d=%20#e"},
		"http":                          {raw: "http://example.com", want: "http://example.com"},
		"a scheme in capitals":          {raw: "HTTPS://example.com/A", want: "https://example.com/A"},
		"no scheme":                     {raw: "example.com/a", want: "https://example.com/a"},
		"no scheme, a URL in the query": {raw: "example.com/login?next=https://example.org/", want: "https://example.com/login?next=https://example.org/"},
		"a scheme and one in the query": {raw: "http://example.com/?next=ftp://example.org", want: "http://example.com/?next=ftp://example.org"},
		"no scheme, a port":             {raw: "example.com:8443/a", want: "https://example.com:8443/a"},
		"an address":                    {raw: "http://[::1]:80/a", want: "http://[::1]:80/a"},
		"a space":                       {raw: "https://example.com/a b", want: "https://example.com/a%20b"},
		"not ASCII":                     {raw: "https://example.com/ü", want: "https://example.com/%C3%BC"},
		"the longest":                   {raw: long, want: long},
		"longer":                        {raw: long + "a", err: shortener.ErrURLLength},
		"nothing":                       {raw: "", err: shortener.ErrURLFormat},
		"no host":                       {raw: "https:///a", err: shortener.ErrURLFormat},
		"a port and no host":            {raw: "https://:80/a", err: shortener.ErrURLFormat},
		"another scheme":                {raw: "ftp://example.com/a", err: shortener.ErrURLFormat},
		"a script":                      {raw: "javascript:alert(1)", err: shortener.ErrURLFormat},
		"a script with //":              {raw: "javascript://example.com/%0aalert(1)", err: shortener.ErrURLFormat},
		"mail":                          {raw: "mailto:a@example.com", err: shortener.ErrURLFormat},
		"credentials":                   {raw: "https://bank.example@evil.example/", err: shortener.ErrURLFormat},
		"another header":                {raw: "https://example.com/\r\nSet-Cookie: a=b", err: shortener.ErrURLFormat},
		"a broken percentage":           {raw: "https://example.com/%zz", err: shortener.ErrURLFormat},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := shortener.ParseURL(tt.raw)
			if !errors.Is(err, tt.err) {
				t.Fatalf("ParseURL(%q) = %v, want %v", tt.raw, err, tt.err)
			}
			same.As(t, "URL", tt.want, got)
		})
	}
}

// Whatever is accepted can be sent in a header as it is.
func FuzzParseURL(f *testing.F) {
	for _, raw := range []string{"https://example.com/a b", "httP://e", "example.com", "http://ü/", "https://a/\x00"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := shortener.ParseURL(raw)
		if err != nil {
			return
		}
		if !strings.HasPrefix(got, "http://") && !strings.HasPrefix(got, "https://") {
			t.Errorf("ParseURL(%q) = %q, which is neither http nor https", raw, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return r <= ' ' || r >= 0x7f }); i >= 0 {
			t.Errorf("ParseURL(%q) = %q, whose byte %d is not visible ASCII", raw, got, i)
		}
		again, err := shortener.ParseURL(got)
		if err == nil && again != got {
			t.Errorf("ParseURL(%q) = %q, and of that %q", raw, got, again)
		}
	})
}

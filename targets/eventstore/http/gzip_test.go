package http

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestAcceptsGzip(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "deflate, gzip;q=0.5": true, "*": true, "br": false,
		"gzip;q=0": false, "gzip; q=0.0": false, "identity, *;q=0": false, "gzip;q=x": false, "xgzip": false,
		"*, gzip;q=0": false, "*;q=0, gzip": true,
	} {
		same.As(t, fmt.Sprintf("acceptsGzip(%q)", value), want, acceptsGzip(http.Header{"Accept-Encoding": {value}}))
	}
}

// The decompressed reply equals the uncompressed one.
func TestRepliesAreCompressedOnRequest(t *testing.T) {
	tests := map[string]struct {
		events  int
		path    string
		on      bool
		accept  string
		packed  bool
		varying string
	}{
		"a page":                {200, "/events?from=1", true, "gzip", true, "Accept-Encoding"},
		"pages of many parts":   {9000, "/events?from=1", true, "gzip", true, "Accept-Encoding"},
		"a stream":              {9000, "/events/stream?from=1&batch_size=100", true, "gzip", true, "Accept-Encoding"},
		"a stream of little":    {1, "/events/stream?from=1", true, "gzip", true, "Accept-Encoding"},
		"too little":            {3, "/events?from=1", true, "gzip", false, "Accept-Encoding"},
		"nothing":               {0, "/events?from=1", true, "gzip", false, "Accept-Encoding"},
		"not accepted":          {200, "/events?from=1", true, "br", false, "Accept-Encoding"},
		"switched off":          {200, "/events?from=1", false, "gzip", false, ""},
		"a refusal":             {0, "/events?from=x", true, "gzip", false, "Accept-Encoding"},
		"a page that is no log": {0, "/position", true, "gzip", false, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newService(t, tc.events, func(c *Config) { c.Gzip = tc.on })
			plain := httptest.NewRecorder()
			s.ServeHTTP(plain, httptest.NewRequest("GET", tc.path, nil))
			packed := httptest.NewRecorder()
			r := httptest.NewRequest("GET", tc.path, nil)
			r.Header.Set("Accept-Encoding", tc.accept)
			s.ServeHTTP(packed, r)

			if plain.Header().Get("Content-Encoding") != "" {
				t.Error("compressed for a client that did not ask")
			}
			same.As(t, "Vary", tc.varying, packed.Header().Get("Vary"))
			body := io.Reader(packed.Body)
			if got := packed.Header().Get("Content-Encoding") == "gzip"; got != tc.packed {
				t.Errorf("compressed = %v, want %v", got, tc.packed)
			} else if got {
				z, err := gzip.NewReader(body)
				must.Succeed(t, err)
				body = z
			}
			got, err := io.ReadAll(body)
			must.Succeed(t, err)
			if diff := cmp.Diff(plain.Body.String(), string(got)); diff != "" {
				t.Errorf("body (-plain +unpacked):\n%.500s", diff)
			}
			if plain.Code != packed.Code || plain.Header().Get("Content-Type") != packed.Header().Get("Content-Type") {
				t.Errorf("status or type differ: %d %v, %d %v", plain.Code, plain.Header(), packed.Code, packed.Header())
			}
		})
	}
}

// A flushed part of a stream can be unpacked without the rest, whether it is worth
// to be compressed or not.
func TestGzipFlushSendsBufferedBytes(t *testing.T) {
	for name, part := range map[string]string{"little": "x", "much": strings.Repeat("x", 2*worthGzip)} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			c := &compressor{ResponseWriter: w}
			for sent := 1; sent <= 2; sent++ {
				if _, err := io.WriteString(c, part); err != nil {
					t.Fatal(err)
				}
				if err := http.NewResponseController(c).Flush(); err != nil || !w.Flushed {
					t.Fatalf("flushed: %v, %v", w.Flushed, err)
				}
				z, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes()))
				must.Succeed(t, err)
				got, err := io.ReadAll(z)
				if want := strings.Repeat(part, sent); string(got) != want || !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("after %d parts %d bytes can be unpacked, want %d (%v)", sent, len(got), len(want), err)
				}
			}
		})
	}
}

package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

func TestAppendRequest(t *testing.T) {
	tests := map[string]struct {
		request transport.Request
		want    string
	}{
		"GET": {
			request: transport.Request{Method: "GET", Path: []byte("/a?b=c")},
			want:    "GET /a?b=c HTTP/1.1\r\nHost: shop.test:81\r\nUser-Agent: loadtest\r\n\r\n",
		},
		"a body": {
			request: transport.Request{Method: "PUT", Path: []byte("/"), Body: []byte("four"), Headers: []transport.Header{{Name: "X-A", Value: []byte("1")}, {Name: "X-B", Value: nil}}},
			want:    "PUT / HTTP/1.1\r\nHost: shop.test:81\r\nUser-Agent: loadtest\r\nX-A: 1\r\nX-B: \r\nContent-Length: 4\r\n\r\nfour",
		},
		"POST without a body says so": {
			request: transport.Request{Method: "POST", Path: []byte("/")},
			want:    "POST / HTTP/1.1\r\nHost: shop.test:81\r\nUser-Agent: loadtest\r\nContent-Length: 0\r\n\r\n",
		},
		"DELETE with a body": {
			request: transport.Request{Method: "DELETE", Path: []byte("/"), Body: []byte("x")},
			want:    "DELETE / HTTP/1.1\r\nHost: shop.test:81\r\nUser-Agent: loadtest\r\nContent-Length: 1\r\n\r\nx",
		},
		"a host and an agent of its own": {
			request: transport.Request{Method: "GET", Path: []byte("/"), Host: []byte("other.test"), Headers: []transport.Header{{Name: "User-Agent", Value: []byte("mine")}}},
			want:    "GET / HTTP/1.1\r\nHost: other.test\r\nUser-Agent: mine\r\n\r\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := AppendRequest(nil, &tt.request, "shop.test:81", "loadtest")
			if string(got) != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(got)))
			if err != nil {
				t.Fatalf("net/http does not read it: %v", err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil || string(body) != string(tt.request.Body) {
				t.Errorf("body %q, %v; want %q", body, err, tt.request.Body)
			}
		})
	}
}

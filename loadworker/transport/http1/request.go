package http1

import (
	"strconv"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// AppendRequest appends a request as HTTP/1.1. host and agent are sent unless the
// request has its own.
func AppendRequest(b []byte, r *transport.Request, host, agent string) []byte {
	b = append(b, r.Method...)
	b = append(b, ' ')
	b = append(b, r.Path...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	if len(r.Host) > 0 {
		b = append(b, r.Host...)
	} else {
		b = append(b, host...)
	}
	b = append(b, "\r\n"...)
	if agent != "" && !hasHeader(r, "User-Agent") {
		b = appendHeader(b, "User-Agent", []byte(agent))
	}
	for i := range r.Headers {
		b = appendHeader(b, r.Headers[i].Name, r.Headers[i].Value)
	}
	if len(r.Body) > 0 || expectsLength(r.Method) {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(len(r.Body)), 10)
		b = append(b, "\r\n"...)
	}
	b = append(b, "\r\n"...)
	return append(b, r.Body...)
}

func appendHeader(b []byte, name string, value []byte) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
}

// expectsLength reports whether a server may wait for a body unless a length says
// that there is none (RFC 9110, 8.6).
func expectsLength(method string) bool {
	return method == "POST" || method == "PUT" || method == "PATCH"
}

// hasHeader reports whether the request has that header; names are in canonical form.
func hasHeader(r *transport.Request, name string) bool {
	for i := range r.Headers {
		if r.Headers[i].Name == name {
			return true
		}
	}
	return false
}

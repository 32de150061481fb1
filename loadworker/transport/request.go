package transport

import "strconv"

// Request is one request, ready to be written. Its slices belong to whoever
// fills it in and are reused; a Conn does not keep them.
type Request struct {
	// Method is the HTTP method.
	Method string
	// Path is the path and query.
	Path []byte
	// Headers are sent in their order, after those that a Conn adds itself.
	Headers []Header
	// Body is sent with its length if it is not empty.
	Body []byte
	// Host replaces the target's host if it is not empty.
	Host []byte
	// Keep is how much of the response's body is handed back, in bytes. What is
	// beyond that is read and forgotten; at 0, nothing is kept and it costs nothing.
	Keep int
}

// Header is one header field.
type Header struct {
	Name  string
	Value []byte
}

// appendTo appends the request as HTTP/1.1. agent is sent unless the request
// has a User-Agent of its own, which HasAgent says.
func (r *Request) appendTo(b []byte, host, agent string) []byte {
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
	if agent != "" && !r.has("User-Agent") {
		b = appendHeader(b, "User-Agent", []byte(agent))
	}
	for i := range r.Headers {
		b = appendHeader(b, r.Headers[i].Name, r.Headers[i].Value)
	}
	if len(r.Body) > 0 || r.lengthExpected() {
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

// lengthExpected says whether servers may wait for a body unless they are told
// that there is none (RFC 9110, 8.6).
func (r *Request) lengthExpected() bool {
	return r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH"
}

// has says whether the request has that header; names are in canonical form.
func (r *Request) has(name string) bool {
	for i := range r.Headers {
		if r.Headers[i].Name == name {
			return true
		}
	}
	return false
}

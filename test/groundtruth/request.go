package groundtruth

import (
	"bytes"
	"strconv"
)

// request is what the server looks at.
type request struct {
	route  *route
	number int64 // at the end of the path, or in NumberHeader; -1: none
	close  bool  // the connection is not to be kept
	// upgrade is the answer to a request for a WebSocket, of a route that has one.
	upgrade []byte
}

const (
	// maxHead bounds the head of a request.
	maxHead = 64 << 10
	// maxBody bounds its body.
	maxBody = 16 << 20
)

var (
	headEnd       = []byte("\r\n\r\n")
	contentLength = []byte("\r\ncontent-length:")
	closes        = []byte("\r\nConnection: close\r\n")
	numbers       = []byte("\r\n" + NumberHeader + ": ")
)

// parse reads one request at the beginning of b. n is its length, 0 when it is
// not whole. ok is false for what can be no request.
func (s *Server) parse(b []byte) (r request, n int, ok bool) {
	end := bytes.Index(b, headEnd)
	if end < 0 {
		return r, 0, len(b) <= maxHead
	}
	n = end + len(headEnd)
	line := b[:bytes.IndexByte(b, '\r')]
	first := bytes.IndexByte(line, ' ')
	last := bytes.LastIndexByte(line, ' ')
	if first < 0 || last <= first {
		return r, 0, false
	}
	if b[0] != 'G' { // what is not GET may have a body
		size, ok := bodyLength(b[:n])
		if !ok {
			return r, 0, false
		}
		if n += size; n > len(b) {
			return r, 0, true
		}
	}
	r.close = bytes.Contains(b[:end+2], closes)
	r.route, r.number = s.resolve(line[first+1 : last])
	if r.number < 0 && len(s.records) > 0 {
		r.number = numberIn(b[:end+2])
	}
	if stream := r.route.reply.Stream; stream != nil && stream.Format == WebSocket {
		r.upgrade = upgraded(b[:end+2])
		return r, n, r.upgrade != nil
	}
	return r, n, true
}

// numberIn is the number in a head's NumberHeader; -1: none.
func numberIn(head []byte) int64 {
	_, rest, found := bytes.Cut(head, numbers)
	if !found {
		return -1
	}
	value, _, _ := bytes.Cut(rest, []byte("\r\n"))
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// bodyLength is what the head says; without a word there is no body.
func bodyLength(head []byte) (n int, ok bool) {
	lower := bytes.ToLower(head)
	at := bytes.Index(lower, contentLength)
	if at < 0 {
		return 0, true
	}
	value, _, _ := bytes.Cut(lower[at+len(contentLength):], []byte("\r\n"))
	n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
	return n, err == nil && n >= 0 && n <= maxBody
}

// resolve finds the route of a path's first segment, and the number at its end.
func (s *Server) resolve(path []byte) (*route, int64) {
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	found := s.other
	if len(s.routes) > 1 && len(path) > 1 {
		segment := path[1:]
		if i := bytes.IndexByte(segment, '/'); i >= 0 {
			segment = segment[:i]
		}
		if r, ok := s.routes[string(segment)]; ok {
			found = r
		}
	}
	if len(s.records) == 0 {
		return found, -1
	}
	number, err := strconv.ParseInt(string(path[bytes.LastIndexByte(path, '/')+1:]), 10, 64)
	if err != nil {
		number = -1
	}
	return found, number
}

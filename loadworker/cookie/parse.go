package cookie

import (
	"bytes"
	"strconv"
	"time"
)

// maxAge is the longest that a cookie is kept; it is longer than any run.
const maxAge = 366 * 24 * time.Hour

// parse reads the value of a Set-Cookie header (RFC 6265, 5.2); ok is false if it has no
// name, or holds what would break a request.
func parse(line, requestPath []byte, now time.Time) (c cookie, ok bool) {
	pair, attributes, _ := bytes.Cut(line, []byte{';'})
	name, value, hasValue := bytes.Cut(pair, []byte{'='})
	name, value = bytes.TrimSpace(name), bytes.TrimSpace(value)
	if !hasValue || len(name) == 0 || len(line) > 2*maxBytes || bytes.ContainsFunc(pair, isControl) {
		return c, false
	}
	c = cookie{name: string(name), value: string(value), path: defaultPath(requestPath)}
	lasts := false // Max-Age goes before Expires
	for more := len(attributes) > 0; more; {
		var attribute []byte
		attribute, attributes, more = bytes.Cut(attributes, []byte{';'})
		key, value, _ := bytes.Cut(attribute, []byte{'='})
		key, value = bytes.TrimSpace(key), bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(key, []byte("path")):
			if c.path = defaultPath(requestPath); len(value) > 0 && value[0] == '/' {
				c.path = string(value)
			}
		case bytes.EqualFold(key, []byte("max-age")):
			if seconds, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				c.expires, lasts = expiry(seconds, now), true
			}
		case bytes.EqualFold(key, []byte("expires")) && !lasts:
			if at, ok := parseDate(value); ok {
				c.expires = at
			}
		case bytes.EqualFold(key, []byte("secure")):
			c.secure = true
		}
	}
	return c, true
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// expiry is the end of a cookie of that many seconds.
func expiry(seconds int64, now time.Time) time.Time {
	if seconds <= 0 {
		return now
	}
	return now.Add(time.Duration(min(seconds, int64(maxAge/time.Second))) * time.Second)
}

// defaultPath is the directory of a request's path (RFC 6265, 5.1.4).
func defaultPath(requestPath []byte) string {
	path := withoutQuery(requestPath)
	last := bytes.LastIndexByte(path, '/')
	if last <= 0 {
		return "/"
	}
	return string(path[:last])
}

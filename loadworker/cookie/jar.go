package cookie

import (
	"bytes"
	"slices"
	"time"
)

const (
	// maxCookies and maxBytes bound a jar: a worker has one for each of its users. RFC 6265
	// asks for 50 cookies of 4096 bytes each, which is 2 GB for 10,000 users; targets set a
	// session and a few more.
	maxCookies = 16
	maxBytes   = 4096
)

// MaxBytes is the most memory that a jar takes, about.
const MaxBytes = maxBytes + maxCookies*cellBytes

// cellBytes is what a cookie takes besides its text.
const cellBytes = 96

// Jar is the cookies of a user. The zero value is empty. One goroutine at a time may use
// it.
type Jar struct {
	cookies []cookie // as they were set
	bytes   int
}

type cookie struct {
	name, value, path string
	expires           time.Time // zero: not before the jar is cleared
	secure            bool
}

func (c *cookie) size() int { return len(c.name) + len(c.value) + len(c.path) }

// Clear removes all cookies.
func (j *Jar) Clear() { j.cookies, j.bytes = j.cookies[:0], 0 }

// IsEmpty says whether there is no cookie.
func (j *Jar) IsEmpty() bool { return len(j.cookies) == 0 }

// Set takes the values of Set-Cookie headers, one on each line, of a response to a request
// of that path. It leaves out what is no cookie, and what there is no room for.
func (j *Jar) Set(lines, requestPath []byte, now time.Time) {
	for line := range bytes.SplitSeq(lines, []byte{'\n'}) {
		c, ok := parse(line, requestPath, now)
		if !ok {
			continue
		}
		j.remove(&c)
		if len(j.cookies) >= maxCookies || j.bytes+c.size() > maxBytes {
			j.evict(now)
		}
		if !isPast(c.expires, now) && len(j.cookies) < maxCookies && j.bytes+c.size() <= maxBytes {
			j.cookies = append(j.cookies, c)
			j.bytes += c.size()
		}
	}
}

// remove removes the cookie of the same name and path.
func (j *Jar) remove(c *cookie) {
	for i := range j.cookies {
		if old := &j.cookies[i]; old.name == c.name && old.path == c.path {
			j.bytes -= old.size()
			j.cookies = append(j.cookies[:i], j.cookies[i+1:]...)
			return
		}
	}
}

// Value is the value of the cookie of a name that was set last, of whatever path; ok is false if
// there is none. It is a copy.
func (j *Jar) Value(name string, now time.Time) (value []byte, ok bool) {
	for i := len(j.cookies) - 1; i >= 0; i-- {
		if c := &j.cookies[i]; c.name == name && !isPast(c.expires, now) {
			return []byte(c.value), true
		}
	}
	return nil, false
}

func isPast(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }

// Append appends the value of a request's Cookie header; nothing, if no cookie is for the
// request. Those of longer paths come first, and of the same length those that were set
// first (RFC 6265, 5.4).
func (j *Jar) Append(dst, requestPath []byte, secure bool, now time.Time) []byte {
	path, start := withoutQuery(requestPath), len(dst)
	for length := len(path); length > 0; length-- {
		for i := range j.cookies {
			c := &j.cookies[i]
			if len(c.path) != length || !isUnder(path, c.path) || isPast(c.expires, now) || c.secure && !secure {
				continue
			}
			if len(dst) > start {
				dst = append(dst, "; "...)
			}
			dst = append(append(append(dst, c.name...), '='), c.value...)
		}
	}
	return dst
}

// isUnder is the path-match of RFC 6265, 5.1.4.
func isUnder(path []byte, of string) bool {
	return len(path) >= len(of) && string(path[:len(of)]) == of &&
		(len(path) == len(of) || of[len(of)-1] == '/' || path[len(of)] == '/')
}

func withoutQuery(path []byte) []byte {
	path, _, _ = bytes.Cut(path, []byte{'?'})
	return path
}

// evict removes the cookies that have expired.
func (j *Jar) evict(now time.Time) {
	j.cookies = slices.DeleteFunc(j.cookies, func(c cookie) bool {
		if !isPast(c.expires, now) {
			return false
		}
		j.bytes -= c.size()
		return true
	})
}

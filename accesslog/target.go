package accesslog

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

var (
	errRequest = errors.New(`there is no request such as "GET /path HTTP/1.1"`)
	errMethod  = errors.New("the method is no word of upper-case letters")
	errPath    = errors.New("the path does not begin with a slash, and is no URL")
	errStatus  = errors.New("the status is no number from 100 to 599")
)

// setRequest sets what the first line of a request says: method, path, and the host of an
// absolute URL. A path with spaces, which is not allowed, is what stands between.
func (e *Entry) setRequest(line string) error {
	method, rest, ok := strings.Cut(line, " ")
	if !ok {
		return errRequest
	}
	return e.setTarget(method, beforeProtocol(rest))
}

// beforeProtocol is a text without a protocol at its end, such as HTTP/1.1.
func beforeProtocol(text string) string {
	const protocol = " HTTP/"
	if at := len(text) - len(" HTTP/1.1"); at >= 0 && strings.HasPrefix(text[at:], protocol) { // most requests
		return text[:at]
	}
	if at := strings.LastIndex(text, protocol); at >= 0 {
		return text[:at]
	}
	return text
}

// setTarget sets the method, and the path, which may be a part of the text; of an absolute URL the host, too.
func (e *Entry) setTarget(method, target string) error {
	const longest = 20 // of methods that are registered: UPDATEREDIRECTREF has 17 letters
	if e.Method = usual(method); e.Method == "" {
		if method == "" || len(method) > longest || strings.ContainsFunc(method, func(r rune) bool { return (r < 'A' || r > 'Z') && r != '-' }) {
			return errMethod
		}
		e.Method = strings.Clone(method) // and not a part of the line
	}
	if !strings.HasPrefix(target, "/") {
		if target = e.setAuthority(target); target == "" {
			return errPath
		}
	}
	e.Path = visible(target)
	return nil
}

// setAuthority sets scheme and host of an absolute URL, and returns its path; "": it is none.
func (e *Entry) setAuthority(url string) (path string) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || !isScheme(scheme) {
		return ""
	}
	e.Scheme = schemes[strings.ToLower(scheme)]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	e.setHost(authority[strings.LastIndex(authority, "@")+1:])
	if path = rest[end:]; !strings.HasPrefix(path, "/") {
		return "/" + path
	}
	return path
}

// usual is a method that most requests have; "": it is another.
func usual(method string) string {
	for _, m := range [...]string{"GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		if method == m {
			return m
		}
	}
	return ""
}

// schemes maps the scheme of a URL in a log to http or https: a web socket begins as a request.
var schemes = map[string]string{"http": "http", "https": "https", "ws": "http", "wss": "https"}

func isScheme(text string) bool {
	return len(text) <= len("https") && schemes[strings.ToLower(text)] != ""
}

// visible is a path whose bytes that no URL may have are percent-encoded, and also the sign
// behind which a URL has what is not sent.
func visible(path string) string {
	const hex = "0123456789ABCDEF"
	i := 0
	for i < len(path) && isVisible(path[i]) {
		i++
	}
	if i == len(path) {
		return path
	}
	var b strings.Builder
	b.Grow(len(path))
	b.WriteString(path[:i])
	for ; i < len(path); i++ {
		if c := path[i]; isVisible(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

func isVisible(c byte) bool { return c > ' ' && c < 0x7f && c != '#' }

// setHost sets the host if the text is one, of which it may be a part. The client chose the text,
// which may be anything.
func (e *Entry) setHost(text string) {
	name, port := strings.ToLower(text), ""
	if strings.Contains(name, ":") { // else an error would be made for each line
		if host, p, err := net.SplitHostPort(name); err == nil {
			name, port = host, p
		}
	}
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"), ".")
	if !isHost(name) {
		return
	}
	if port == "443" && e.Scheme != "http" || port == "80" && e.Scheme != "https" {
		if e.Scheme == "" {
			e.Scheme = map[string]string{"443": "https", "80": "http"}[port]
		}
		port = ""
	}
	if port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return
		}
		e.Host = net.JoinHostPort(name, port)
		return
	}
	if e.Host = name; strings.Contains(name, ":") {
		e.Host = "[" + name + "]"
	}
}

// isHost says whether a text is the name of a host, or an address.
func isHost(name string) bool {
	const longest = 253
	if name == "" || len(name) > longest {
		return false
	}
	if strings.Contains(name, ":") {
		a, err := netip.ParseAddr(name)
		return err == nil && a.Zone() == ""
	}
	return !strings.HasPrefix(name, "-") && !strings.HasPrefix(name, ".") && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
	})
}

// setStatus sets the status; a dash, and 0, which Envoy writes for a request whose client went
// away, are none.
func (e *Entry) setStatus(text string) error {
	if text == "-" || text == "" || text == "0" || text == "000" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 100 || n > 599 {
		return errStatus
	}
	e.Status = n
	return nil
}

package accesslog

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// parser parses lines, each by the format with which it begins.
type parser struct {
	// mappings are those that a line of JSON may have; the first that fits counts.
	mappings []mapping
	clock    clock
	list     []word // of the line, used again
	host     string // of the line before
	// requestsOnly leaves out what is not part of the request.
	requestsOnly bool
}

func newParser(fields *Fields) parser {
	if fields != nil {
		return parser{mappings: []mapping{fields.mapping}}
	}
	return parser{mappings: presets()}
}

// parse parses a line that is not empty, without spaces around it, into an entry that is. The entry's path may be a
// part of the line.
func (p *parser) parse(raw []byte, e *Entry) (err error) {
	// A copy of each line would be most of what a log costs the collector of garbage. What an entry
	// keeps is copied instead: the method where it is set, and the host here.
	line := unsafe.String(unsafe.SliceData(raw), len(raw))
	switch {
	case line[0] == '{':
		err = p.parseJSON(raw, e)
	case line[0] == '[':
		err = p.parseEnvoy(line, e)
	case isBalancer(line):
		err = p.parseBalancer(line, e)
	default:
		err = p.parseCombined(line, e)
	}
	if e.Host != p.host { // most logs are of few hosts
		p.host = strings.Clone(e.Host)
	}
	e.Host = p.host
	return err
}

var errCombined = errors.New(`the line has no known format, such as: ADDRESS - USER [28/Nov/2026:10:00:00 +0000] "GET /path HTTP/1.1" 200 BYTES`)

// parseCombined parses the common or the combined format: ADDRESS IDENTITY USER [TIME]
// "REQUEST" STATUS …. Before the address there may be a host, as in vhost_combined of Debian.
func (p *parser) parseCombined(line string, e *Entry) error {
	head, rest, ok := strings.Cut(line, `] "`)
	begin := strings.LastIndex(head, " [") // brackets may stand before, such as around an address or the name of a pod
	if !ok || begin < 0 {
		return errCombined
	}
	who, at := head[:begin], head[begin+len(" ["):]
	rest, err := p.parseRequest(at, rest, e)
	if err != nil {
		return err
	}
	if e.Host == "" && !p.requestsOnly {
		if words := strings.Fields(who); len(words) == 4 {
			if _, err := netip.ParseAddr(words[0]); err != nil {
				e.setHost(words[0])
			}
		}
	}
	status, _, _ := strings.Cut(strings.TrimPrefix(rest, " "), " ")
	return e.setStatus(status)
}

// parseRequest parses the time and the request of a line, and returns what is behind the request's closing quote.
func (p *parser) parseRequest(at, text string, e *Entry) (behind string, err error) {
	if e.Time, err = p.clock.parse(at); err != nil {
		return "", err
	}
	request, behind, ok := quoted(text)
	if !ok {
		return "", errRequest
	}
	return behind, e.setRequest(request)
}

// quoted is a text up to its closing quote, and what is behind that. Apache and Nginx write
// quotes, and bytes that cannot be seen, behind a backslash.
func quoted(text string) (inside, rest string, ok bool) {
	if end := strings.IndexByte(text, '"'); end >= 0 && strings.IndexByte(text[:end], '\\') < 0 {
		return text[:end], text[end+1:], true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			byteOf, n := unescape(text[i+1:])
			b.WriteByte(byteOf)
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// unescape is the byte that stands behind a backslash, and how many characters it takes.
func unescape(text string) (byte, int) {
	switch text[0] {
	case 'x':
		if len(text) >= 3 {
			if n, err := strconv.ParseUint(text[1:3], 16, 8); err == nil {
				return byte(n), 3
			}
		}
	case 'n':
		return '\n', 1
	case 't':
		return '\t', 1
	case 'r':
		return '\r', 1
	case 'b':
		return '\b', 1
	case 'v':
		return '\v', 1
	}
	return text[0], 1
}

var errEnvoy = errors.New(`the line is not of Envoy's text format: [2026-11-28T10:00:00.000Z] "GET /path HTTP/1.1" 200 …`)

// parseEnvoy parses the default format of Envoy, or that of Istio. What is behind the status
// is, in both, and with others before it:
//
//	RECEIVED SENT DURATION UPSTREAM "FORWARDED-FOR" "USER-AGENT" "REQUEST-ID" "AUTHORITY" …
func (p *parser) parseEnvoy(line string, e *Entry) error {
	at, rest, ok := strings.Cut(line[1:], `] "`)
	switch {
	case !ok:
		return errEnvoy
	case strings.Contains(at, " ["): // the name of a pod stands before the line
		return p.parseCombined(line, e)
	}
	rest, err := p.parseRequest(at, rest, e)
	if err != nil {
		return err
	}
	most := mostWords
	if p.requestsOnly {
		most = 1 // the status, which shows that the line is of this format
	}
	list := p.words(rest, most)
	if len(list) == 0 {
		return errStatus
	}
	e.setBehindStatus(list[1:])
	return e.setStatus(list[0].text)
}

// setBehindStatus sets what Envoy writes behind the status.
func (e *Entry) setBehindStatus(list []word) {
	const before = 4 // RECEIVED SENT DURATION UPSTREAM
	plain := 0
	for i, w := range list {
		if !w.quoted {
			plain++
			continue
		}
		if plain < before {
			plain = 0
			continue
		}
		if ms, err := strconv.ParseInt(list[i-2].text, 10, 32); err == nil {
			e.Duration = lasted(float64(ms), time.Millisecond)
		}
		if host := i + 3; host < len(list) && list[host].quoted {
			e.setHost(list[host].text)
		}
		return
	}
}

// word is a part of a line, in quotes or between spaces.
type word struct {
	text   string
	quoted bool
}

// mostWords is more than the words of a line that mean something.
const mostWords = 32

// words divides a line into at most so many words, which are valid until the next call.
func (p *parser) words(line string, most int) (list []word) {
	list = p.list[:0]
	defer func() { p.list = list }()
	for line = strings.TrimLeft(line, " "); line != "" && len(list) < most; line = strings.TrimLeft(line, " ") {
		if line[0] == '"' {
			text, rest, ok := quoted(line[1:])
			if !ok {
				return list
			}
			list, line = append(list, word{text, true}), rest
			continue
		}
		text, rest, _ := strings.Cut(line, " ")
		list, line = append(list, word{text: text}), rest
	}
	return list
}

var errBalancer = errors.New("the line is not of an AWS application load balancer: https TIME NAME CLIENT TARGET 0.001 0.002 0.000 200 …")

// isBalancer says whether a line begins with a type of that load balancer.
func isBalancer(line string) bool {
	const longest = len("https")
	first, _, _ := strings.Cut(line[:min(len(line), longest+1)], " ")
	switch first {
	case "http", "https", "h2", "grpcs", "ws", "wss":
		return true
	}
	return false
}

// parseBalancer parses a line of an AWS application load balancer: TYPE TIME NAME CLIENT TARGET
// SECONDS SECONDS SECONDS STATUS TARGET-STATUS RECEIVED SENT "REQUEST" "USER-AGENT" ….
func (p *parser) parseBalancer(line string, e *Entry) (err error) {
	list := p.words(line, mostWords)
	const at, seconds, status, request = 1, 5, 8, 12
	if len(list) <= request || !list[request].quoted {
		return errBalancer
	}
	if e.Time, err = p.clock.parse(list[at].text); err != nil {
		return err
	}
	if err = e.setRequest(list[request].text); err != nil {
		return err
	}
	for _, w := range list[seconds:status] {
		part, err := strconv.ParseFloat(w.text, 64)
		if err != nil || part < 0 { // -1: there was no response
			e.Duration = 0
			break
		}
		e.Duration += lasted(part, time.Second)
	}
	return e.setStatus(list[status].text)
}

// lasted is a duration of a log, in a unit; 0 if the text is no duration, or longer than a day.
func lasted(n float64, unit time.Duration) time.Duration {
	d := n * float64(unit)
	if !(d >= 0 && d <= float64(24*time.Hour)) {
		return 0
	}
	return time.Duration(d)
}

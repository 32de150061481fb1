package accesslog

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mapping names the fields of a line of JSON. Each has one or more names, the first that is
// there counts. A name with dots is also that of a field in an object.
type mapping struct {
	time, method, path, query, status, host, scheme []string
	// request is that of a field with method and path: GET /path HTTP/1.1.
	request []string
	// duration is a number of units, or a text with a unit.
	duration []string
	unit     time.Duration
}

// presets are the formats of JSON that are known.
func presets() []mapping {
	return []mapping{
		{ // Envoy, Istio and Envoy Gateway
			time: []string{"start_time"}, method: []string{"method"}, path: []string{"x-envoy-origin-path", "path"},
			status: []string{"response_code"}, host: []string{":authority", "authority"},
			duration: []string{"duration"}, unit: time.Millisecond,
		},
		{ // Google Cloud's load balancers
			time: []string{"timestamp"}, method: []string{"httpRequest.requestMethod"}, path: []string{"httpRequest.requestUrl"},
			status: []string{"httpRequest.status"}, duration: []string{"httpRequest.latency"}, unit: time.Second,
		},
		{ // Caddy
			time: []string{"ts"}, method: []string{"request.method"}, path: []string{"request.uri"},
			status: []string{"status"}, host: []string{"request.host"}, duration: []string{"duration"}, unit: time.Second,
		},
		{ // Traefik
			time: []string{"StartUTC", "StartLocal", "time"}, method: []string{"RequestMethod"}, path: []string{"RequestPath"},
			status: []string{"DownstreamStatus"}, host: []string{"RequestHost"}, scheme: []string{"RequestScheme"},
			duration: []string{"Duration"}, unit: time.Nanosecond,
		},
		{ // Nginx, with the names of its variables
			time:   []string{"time_iso8601", "time_local", "msec", "time", "timestamp", "@timestamp", "ts"},
			method: []string{"request_method", "method"}, path: []string{"request_uri", "path", "uri", "url"}, query: []string{"args", "query_string"},
			request: []string{"request"}, status: []string{"status", "status_code"},
			host: []string{"http_host", "host"}, scheme: []string{"scheme"}, duration: []string{"request_time"}, unit: time.Second,
		},
	}
}

// Fields are the names of the fields of a log in JSON.
type Fields struct{ mapping mapping }

// kinds are what a field can be, in the order in which they are listed.
var kinds = []string{"time", "method", "path", "request", "query", "status", "host", "scheme", "duration"}

// ParseFields reads what a person gives: time=t,method=m,path=p,status=s,host=h. Needed are
// time, and either method and path, or request: a field such as GET /path HTTP/1.1. A
// duration without a unit is one of seconds.
func ParseFields(text string) (*Fields, error) {
	f := &Fields{mapping: mapping{unit: time.Second}}
	m := &f.mapping
	into := map[string]*[]string{
		"time": &m.time, "method": &m.method, "path": &m.path, "request": &m.request, "query": &m.query,
		"status": &m.status, "host": &m.host, "scheme": &m.scheme, "duration": &m.duration,
	}
	for part := range strings.SplitSeq(text, ",") {
		kind, name, _ := strings.Cut(part, "=")
		names := into[strings.TrimSpace(kind)]
		switch {
		case names == nil:
			return nil, fmt.Errorf("%q is not KIND=FIELD, with a kind of %s", part, strings.Join(kinds, ", "))
		case strings.TrimSpace(name) == "":
			return nil, fmt.Errorf("%q names no field", part)
		}
		*names = append(*names, strings.TrimSpace(name))
	}
	if m.time == nil || m.request == nil && (m.method == nil || m.path == nil) {
		return nil, errors.New("time, and method and path (or request, a field such as GET /path HTTP/1.1) must be named, such as time=ts,method=verb,path=url,status=code")
	}
	return f, nil
}

var (
	errJSON   = errors.New("the line is no object of JSON")
	errFields = errors.New("the object has no fields for time, method and path that are known: name them")
)

func (p *parser) parseJSON(line []byte, e *Entry) error {
	object := map[string]json.RawMessage{}
	if json.Unmarshal(line, &object) != nil {
		return errJSON
	}
	for i := range p.mappings {
		m := &p.mappings[i]
		if !m.fits(object) {
			continue
		}
		// The order stays the same: of two formats that both fit a line, one must not be chosen by the lines before
		// it, which not every reader of a log parses (see Take).
		return m.entry(object, &p.clock, e)
	}
	return errFields
}

// fits says whether the object has what a request must have.
func (m *mapping) fits(object map[string]json.RawMessage) bool {
	return value(object, m.time) != "" && (value(object, m.method) != "" && value(object, m.path) != "" || value(object, m.request) != "")
}

func (m *mapping) entry(object map[string]json.RawMessage, c *clock, e *Entry) (err error) {
	if e.Time, err = c.parse(value(object, m.time)); err != nil {
		return err
	}
	e.Scheme = schemes[strings.ToLower(value(object, m.scheme))]
	if method, path := value(object, m.method), value(object, m.path); method != "" && path != "" {
		if query := strings.TrimPrefix(value(object, m.query), "?"); query != "" && query != "-" && !strings.Contains(path, "?") {
			path += "?" + query
		}
		err = e.setTarget(method, path)
	} else {
		err = e.setRequest(value(object, m.request))
	}
	if err != nil {
		return err
	}
	if e.Host == "" {
		e.setHost(value(object, m.host))
	}
	e.Duration = m.lasted(value(object, m.duration))
	return e.setStatus(value(object, m.status))
}

func (m *mapping) lasted(text string) time.Duration {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return lasted(n, m.unit)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return lasted(float64(d), time.Nanosecond)
}

// value is the first of the fields that has a text or a number; "" if there is none.
func value(object map[string]json.RawMessage, names []string) string {
	for _, name := range names {
		if text := scalar(find(object, name)); text != "" {
			return text
		}
	}
	return ""
}

// find is a field of that name, or one in an object whose name is before a dot.
func find(object map[string]json.RawMessage, name string) json.RawMessage {
	if raw, ok := object[name]; ok {
		return raw
	}
	outer, inner, ok := strings.Cut(name, ".")
	raw, has := object[outer]
	if !ok || !has {
		return nil
	}
	below := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &below) != nil {
		return nil
	}
	return find(below, inner)
}

func scalar(raw json.RawMessage) string {
	switch {
	case len(raw) == 0 || slices.Contains([]byte("{[tfn"), raw[0]):
		return ""
	case raw[0] != '"':
		return string(raw)
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

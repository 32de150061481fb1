package draft

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/credential"
)

// The bounds of the API.
const (
	maxRequests = 32
	maxName     = 63
	maxPath     = 4096
	maxValue    = 4096
	maxBody     = 65536
	maxWeight   = 1000
	maxHeaders  = 32
	maxPrefix   = 128
)

// Draft is a LoadTest before it is written.
type Draft struct {
	// Source says what it was made from.
	Source string
	// Name is the LoadTest's; "" is that of the host.
	Name string
	// Schedule has it written as the template of a LoadTestSchedule that starts it at times
	// in the fields of cron; "" is a LoadTest.
	Schedule string
	// Service is NAME or NAME:PORT of the Service that is the target; "" is Origin.
	Service string
	// Origin is scheme and host of the target.
	Origin string
	// HTTP2, Insecure and Timeout are set for the target; Timeout is such as 10s.
	HTTP2, Insecure bool
	Timeout         string
	// Health has the target asked for its health, by the health service of gRPC.
	Health   bool
	Requests []Request
	// headers are the target's, beside those that all requests have.
	headers []Header
	// Remarks say what was left out, and what to look at.
	Remarks []string
	// Account says what was read of the source, for the person who reads along; it is not
	// written.
	Account []string
	// load is what is sent over time; nil is a ladder of a few users.
	load *load
}

// Request is one of the traffic mix.
type Request struct {
	Name   string
	Weight int
	Method string
	// Path is path and query.
	Path    string
	Headers []Header
	Body    string
	// Status are the expected ones; none: 200 to 299.
	Status []int
	// Remark is written above it.
	Remark string
	// follow says that redirects are followed.
	follow bool
	// call is of gRPC; nil: the request is one of HTTP, to Path.
	call *call
}

// Header is a header of a request. With Secret its value is a credential.
type Header struct {
	Name, Value string
	// Secret says that the value is not to be written, and Prefix is what of it may be.
	Secret bool
	Prefix string
}

// methods are those that the API has.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// HasMethod says whether a LoadTest can send requests of a method.
func HasMethod(method string) bool { return slices.Contains(methods, method) }

// header is a header with its value, or with what may be written of it.
func header(name, value string) Header {
	h := Header{Name: name, Value: value}
	if !credential.InHeader(name) {
		return h
	}
	h.Secret, h.Value = true, ""
	scheme, rest, ok := strings.Cut(value, " ")
	if ok && strings.Contains(strings.ToLower(name), "authorization") && rest != "" && slices.Contains(authSchemes, strings.ToLower(scheme)) {
		h.Prefix = scheme + " "
	}
	return h
}

// authSchemes are first words of Authorization headers that are no part of a credential.
var authSchemes = []string{"basic", "bearer", "digest", "token", "apikey", "dpop", "hawk", "negotiate", "aws4-hmac-sha256"}

// ownHeaders are those that the worker writes itself, or that belong to one connection or
// to one browser.
var ownHeaders = []string{"host", "content-length", "connection", "transfer-encoding", "accept-encoding", "keep-alive", "proxy-connection",
	"te", "trailer", "upgrade", "upgrade-insecure-requests", "if-none-match", "if-modified-since", "x-vegeta-seq"}

// keptHeader says whether a header belongs into a LoadTest.
func keptHeader(name string) bool {
	lower := strings.ToLower(name)
	return name != "" && !strings.HasPrefix(name, ":") && !strings.HasPrefix(lower, "sec-") && !slices.Contains(ownHeaders, lower)
}

// SetHeader adds a header that is sent with every request, and with what is asked before
// them. A credential is not written.
func (d *Draft) SetHeader(name, value string) {
	all := Request{Headers: d.headers}
	all.setHeader(header(name, value))
	d.headers = all.Headers
}

// setHeader adds a header. Values of one name are joined, as HTTP has it.
func (r *Request) setHeader(h Header) {
	if !keptHeader(h.Name) {
		return
	}
	for i := range r.Headers {
		if before := &r.Headers[i]; strings.EqualFold(before.Name, h.Name) {
			if !h.Secret {
				before.Value += ", " + h.Value
			}
			return
		}
	}
	r.Headers = append(r.Headers, h)
}

// setHost has a request name another host than that of the origin, as one does to ask a virtual host by the address
// of its server.
func (r *Request) setHost(host, origin string) {
	if _, own, _ := strings.Cut(origin, "://"); host != "" && !strings.EqualFold(host, own) {
		r.Headers = append(r.Headers, Header{Name: "Host", Value: host})
	}
}

// address divides a URL into the origin, the path with the query, and the credentials
// that it may have.
func address(text string) (origin, path string, user *url.Userinfo, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", "", nil, fmt.Errorf("%q is not a URL", text)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", "", nil, fmt.Errorf("%q must be http:// or https:// with a host", text)
	}
	path = cmp.Or(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return u.Scheme + "://" + u.Host, path, u.User, nil
}

// parameter is one of a query string, with its name and its value.
var parameter = regexp.MustCompile(`[?&]([^?=&]*)=[^&]+`)

// secretName is part of the name of a parameter that carries a credential, unless it is part of a plainName.
var (
	secretName = regexp.MustCompile(`(?i)token|key|secret|passw|auth|sig|session|credential|jwt`)
	plainName  = regexp.MustCompile(`(?i)keyword|keyboard|author(?:s|[-_]?ids?|[-_]?names?)?$|design|assign|signal`)
)

func isSecret(name string) bool { return secretName.MatchString(plainName.ReplaceAllString(name, "")) }

// hideQuery takes credentials out of a path, and out of URLs in headers. There is no
// reference to a Secret in a part of either.
func (r *Request) hideQuery() {
	r.Path = withoutSecrets(r.Path, func(name string) {
		r.Remark = join(r.Remark, fmt.Sprintf("The value of query parameter %s was left out, because it looks like a credential.", name))
	})
	for i := range r.Headers {
		r.Headers[i].Value = withoutSecrets(r.Headers[i].Value, func(string) {})
	}
}

// withoutSecrets leaves out values of parameters, also in a URL that is a value, and tells their names.
func withoutSecrets(text string, leftOut func(name string)) string {
	return parameter.ReplaceAllStringFunc(text, func(match string) string {
		before, value, _ := strings.Cut(match, "=")
		if name := before[1:]; isSecret(name) {
			leftOut(name)
			return before + "=LEFT-OUT"
		}
		return before + "=" + withoutSecrets(value, leftOut)
	})
}

func join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// check refuses what no LoadTest can have, and names the requests.
func (d *Draft) check() error {
	if len(d.Requests) == 0 {
		return errors.New("holds no request")
	}
	if d.Origin == "" && d.Service == "" {
		return errors.New("names no host: say which Service is the target with --service NAME:PORT")
	}
	if err := d.checkNames(); err != nil {
		return err
	}
	if err := (&Request{Headers: d.headers}).checkHeaders(); err != nil {
		return err
	}
	d.limit()
	taken := map[string]bool{}
	for i := range d.Requests {
		r := &d.Requests[i]
		r.Method = cmp.Or(strings.ToUpper(r.Method), "GET")
		r.hideQuery()
		if err := r.check(); err != nil {
			return fmt.Errorf("%s %s: %w", r.Method, short(r.Path), err)
		}
		r.Name = unique(taken, cmp.Or(r.Name, r.Method+" "+pathOnly(r.Path)))
	}
	return nil
}

var (
	testName    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$`)
	serviceName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?(:[a-z0-9]+(-[a-z0-9]+)*)?$`)
)

func (d *Draft) checkNames() error {
	if d.Name != "" && !testName.MatchString(d.Name) {
		return fmt.Errorf("cannot be called %q: --name must have at most 52 lower-case letters, digits and dashes", d.Name)
	}
	if err := d.checkSchedule(); err != nil {
		return err
	}
	if d.Service != "" && !serviceName.MatchString(d.Service) {
		return fmt.Errorf("cannot be sent to %q: --service must be NAME or NAME:PORT, such as shop:80 or shop:http", d.Service)
	}
	return nil
}

func (r *Request) check() error {
	switch {
	case !slices.Contains(methods, r.Method):
		return fmt.Errorf("method %s is not one of %s", r.Method, strings.Join(methods, ", "))
	case len(escape(r.Path)) > maxPath:
		return fmt.Errorf("a path may have %d bytes, this one has %d", maxPath, len(escape(r.Path)))
	case strings.ContainsFunc(r.Path, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '#' }):
		return errors.New("a path must not have spaces, control characters or #: write them in percent-encoding, such as %20")
	case !utf8.ValidString(r.Body):
		return errors.New("a body that is not text must be in a ConfigMap (binaryData), which the request names by bodyFrom")
	case !utf8.ValidString(r.Path):
		return errors.New("a path must be text: write other bytes in percent-encoding, such as %20")
	case len(escape(r.Body)) > maxBody:
		return fmt.Errorf("a body may have %d bytes, this one has %d: put it into a ConfigMap and name it by bodyFrom", maxBody, len(escape(r.Body)))
	}
	return r.checkHeaders()
}

// headerName is what HTTP allows.
var headerName = regexp.MustCompile("^[-!#$%&'*+.^_`|~0-9A-Za-z]{1,128}$")

func (r *Request) checkHeaders() error {
	if n := len(r.Headers); n > maxHeaders {
		return fmt.Errorf("a request may have %d headers, this one has %d: leave some out", maxHeaders, n)
	}
	for _, h := range r.Headers {
		switch {
		case !headerName.MatchString(h.Name):
			return fmt.Errorf("%q is not the name of a header", short(h.Name))
		case len(escape(h.Value)) > maxValue:
			return fmt.Errorf("the value of header %s may have %d bytes, it has %d", h.Name, maxValue, len(escape(h.Value)))
		case strings.ContainsFunc(h.Value+h.Prefix, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) || !utf8.ValidString(h.Value):
			return fmt.Errorf("the value of header %s must be text in one line, without control characters", h.Name)
		case len(h.Prefix) > maxPrefix:
			return fmt.Errorf("the text before the credential in header %s may have %d bytes, it has %d", h.Name, maxPrefix, len(h.Prefix))
		}
	}
	return nil
}

// limit leaves out what is more than a LoadTest may have: the requests of least weight.
func (d *Draft) limit() {
	for i := range d.Requests {
		d.Requests[i].Weight = min(d.Requests[i].Weight, maxWeight)
	}
	if n := len(d.Requests); n > maxRequests {
		slices.SortStableFunc(d.Requests, func(a, b Request) int { return b.Weight - a.Weight })
		d.Requests = d.Requests[:maxRequests]
		d.Remarks = append(d.Remarks, fmt.Sprintf("Left out: %d of %d requests, because a LoadTest has at most %d.", n-maxRequests, n, maxRequests))
	}
	if !slices.ContainsFunc(d.Requests, func(r Request) bool { return r.Weight > 0 }) {
		d.Requests[0].Weight = 1
	}
}

// escape writes a text as a template of it.
func escape(text string) string { return strings.ReplaceAll(text, "$", "$$") }

func pathOnly(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return path
}

func short(text string) string {
	const enough = 60
	if len(text) > enough {
		return text[:enough] + "…"
	}
	return text
}

// unique takes a name, or that name with a number.
func unique(taken map[string]bool, name string) string {
	cut := func(n int) string {
		runes := []rune(name)
		for len(string(runes)) > n {
			runes = runes[:len(runes)-1]
		}
		return string(runes)
	}
	candidate := cut(maxName)
	for i := 2; taken[candidate]; i++ {
		number := fmt.Sprintf(" (%d)", i)
		candidate = cut(maxName-len(number)) + number
	}
	taken[candidate] = true
	return candidate
}

// merge makes one of requests that are the same, each with its weight. The order is that
// in which they came first.
func merge(list []Request) []Request {
	var merged []Request
	at := map[string]int{}
	for _, r := range list {
		key := fmt.Sprintf("%s\x00%s\x00%s\x00%v", r.Method, r.Path, r.Body, r.Headers)
		if i, ok := at[key]; ok {
			merged[i].Weight += r.Weight
			if len(r.Status) == 0 { // it was answered as expected at least once, such as after a login
				merged[i].Status, merged[i].Remark = nil, r.Remark
			}
			continue
		}
		at[key] = len(merged)
		merged = append(merged, r)
	}
	return merged
}

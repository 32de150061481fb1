package source

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Origin is scheme and host of a target, to which redirects may lead: to no other place.
type Origin struct {
	// URL is scheme and host: "http://shop:8080".
	URL string
	// Aliases are other names of the host, with a port, or without one for any port.
	Aliases []string
}

// origin is a parsed Origin.
type origin struct {
	url     *url.URL
	aliases []string
}

func newOrigins(list []Origin) ([]origin, error) {
	out := make([]origin, len(list))
	for i, o := range list {
		var err error
		if out[i], err = o.parse(); err != nil {
			return nil, fmt.Errorf("target %d: %w", i, err)
		}
	}
	return out, nil
}

func (o Origin) parse() (origin, error) {
	u, err := url.Parse(o.URL)
	return origin{u, o.Aliases}, err
}

// Has says whether an absolute URL is of the origin. It fails if the origin's own URL is none.
func (o Origin) Has(u *url.URL) (bool, error) {
	parsed, err := o.parse()
	return err == nil && parsed.is(u), err
}

func (o *origin) isSecure() bool { return o.url.Scheme == "https" }

// is says whether a URL is of the origin.
func (o *origin) is(u *url.URL) bool {
	return u.Scheme == o.url.Scheme && (strings.EqualFold(address(u), address(o.url)) || slices.ContainsFunc(o.aliases, func(alias string) bool {
		return strings.EqualFold(alias, u.Hostname()) || strings.EqualFold(alias, address(u))
	}))
}

// address is host and port, always both.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" && u.Scheme == "https" {
		port = "443"
	} else if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Redirect is a redirect that is followed: where the request goes to that is sent next. It is not
// changed.
type Redirect struct {
	followed int // how many it is, those before it included
	target   int
	path     []byte
	method   string // of the first request
	// isGet says that the method is GET now, without a body (RFC 9110, 15.4).
	isGet bool
	// host is that of the request's own Host header; empty: it has none, or is not of use any more.
	host string
	// abroad says that it, or one before it, leads to another target than that of the request, whose
	// headers may be credentials.
	abroad bool
}

// LeftTarget says that a redirect of the chain led to another target than that of the request: what
// the last response says may be the word of that one. nil: no redirect was followed.
func (r *Redirect) LeftTarget() bool { return r != nil && r.abroad }

// followed are the statuses of redirects that are followed. 300 offers a choice.
var followed = []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}

// location is the header field that redirects have.
const location = "Location"

// Follow returns the redirect by which a response to a request is to be followed, which was sent
// because of the one before; nil: it is the last response. The error is why a redirect is not
// followed although the request follows redirects. sent is the request as it was rendered.
func (s *Source) Follow(request int, sent *transport.Request, before *Redirect, r *transport.Response) (*Redirect, error) {
	q := &s.requests[request]
	if !s.Follows(request, r.Status) {
		return nil, nil
	}
	next := Redirect{target: q.target, path: sent.Path, host: string(sent.Host), method: sent.Method}
	if before != nil {
		next = *before
	}
	if next.followed++; next.followed > q.follow {
		return nil, fmt.Errorf("it is redirect %d of the request, which follows %d", next.followed, q.follow)
	}
	value, ok := transport.Field(r.Fields, location)
	if !ok {
		return nil, fmt.Errorf("the redirect has no Location, or one of more than %d bytes", transport.MaxFields)
	}
	if err := s.lead(&next, string(value)); err != nil {
		return nil, failure.Withhold(value, "%w", err)
	}
	next.abroad = next.abroad || next.target != q.target
	next.isGet = next.isGet || becomesGet(r.Status, next.method)
	return &next, nil
}

// Follows says whether a request follows redirects of a status.
func (s *Source) Follows(request, status int) bool {
	return s.requests[request].follow > 0 && slices.Contains(followed, status)
}

// becomesGet says whether a redirect of a status makes a request one of GET: POST, by custom, and any
// other but HEAD by 303.
func becomesGet(status int, method string) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound:
		return method == http.MethodPost
	case http.StatusSeeOther:
		return method != http.MethodHead
	}
	return false
}

var (
	errLocation  = errors.New("the Location of the redirect is not a URL of HTTP")
	errUser      = errors.New("the Location of the redirect has a user or a password")
	errElsewhere = errors.New("the redirect leads to another scheme, host or port than those of spec.target and spec.otherTargets: add it to spec.otherTargets, or expect the status")
)

// lead sets where a Location leads from where a redirect is.
func (s *Source) lead(r *Redirect, to string) error {
	u, err := url.Parse(to)
	if err != nil {
		return errLocation // the library's own error shows it
	}
	if u.User != nil {
		return errUser
	}
	if u.Scheme == "" && u.Host == "" {
		base, err := url.ParseRequestURI(string(r.path)) // two slashes at its beginning are no host
		if err != nil {
			return errLocation
		}
		u = base.ResolveReference(u)
	} else if err := s.enter(r, u); err != nil {
		return err
	}
	path := u.RequestURI()
	if !strings.HasPrefix(path, "/") {
		return errLocation
	}
	if err := inPath.check(path); err != nil {
		return fmt.Errorf("the Location of the redirect: %w", err)
	}
	r.path = []byte(path)
	return nil
}

// enter sets the target of an absolute URL, or of one without a scheme.
func (s *Source) enter(r *Redirect, u *url.URL) error {
	if r.target >= len(s.origins) {
		return errElsewhere
	}
	if u.Scheme == "" {
		u.Scheme = s.origins[r.target].url.Scheme
	}
	here := &s.origins[r.target]
	if named := (&url.URL{Scheme: here.url.Scheme, Host: r.host}); r.host != "" && u.Scheme == named.Scheme && strings.EqualFold(address(u), address(named)) {
		return nil // the host that the target was told
	}
	target := r.target
	if !here.is(u) {
		if target = slices.IndexFunc(s.origins, func(o origin) bool { return o.is(u) }); target < 0 {
			return errElsewhere
		}
	}
	r.target, r.host = target, ""
	return nil
}

// noCredentials are the headers that may be sent to another target than the one of the request: all
// others may be credentials, whatever their names.
var noCredentials = []string{"Accept", "Accept-Language", "Content-Encoding", "Content-Language", contentType, "User-Agent"}

// ofBody are the headers that a request without a body does not have.
var ofBody = []string{"Content-Encoding", "Content-Language", "Content-Location", contentType}

// apply makes a rendered request the one that follows a redirect.
func (r *Redirect) apply(q *transport.Request) {
	q.Path, q.Target = r.path, r.target
	if r.host == "" {
		q.Host = nil
	}
	if r.isGet {
		q.Method, q.Body = http.MethodGet, nil
	}
	q.Headers = slices.DeleteFunc(q.Headers, func(h transport.Header) bool {
		return r.isGet && slices.Contains(ofBody, h.Name) || r.abroad && !slices.Contains(noCredentials, h.Name)
	})
}

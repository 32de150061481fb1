package source

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// redirecting is a source of a request that follows two redirects, of three targets.
func redirecting(t *testing.T, change func(*Request)) *Source {
	t.Helper()
	r := Request{
		Name: "login", Weight: 1, Method: "POST", Path: "/a/login?x=1", Body: "secret", Follow: 2,
		Headers: []Header{{Name: "Authorization", Value: "Bearer s3cret"}, {Name: "X-Api-Key", Value: "s3cret"}, {Name: "Content-Type", Value: "text/plain"}, {Name: "Accept", Value: "text/html"}},
	}
	if change != nil {
		change(&r)
	}
	return mustNew(t, Config{
		Requests: []Request{r},
		Origins:  []Origin{{URL: "http://shop", Aliases: []string{"shop.default.svc:80", "outer"}}, {URL: "https://identity:8443"}, {URL: "http://[fd00::1]:8080"}},
	})
}

// redirected is what follows a response with a status and a Location: a request, or after "!" why none does.
func redirected(s *Source, before *Redirect, status int, to string) (string, *Redirect) {
	var b Buffer
	s.Render(&b, 0, Vars{Redirect: before})
	response := &transport.Response{Status: status}
	if to != "" {
		response.Fields = transport.AppendField(nil, []string{location}, location, to)
	}
	next, err := s.Follow(0, &b.Request, before, response)
	switch {
	case err != nil:
		return "!" + failure.Message(err, false), nil
	case next == nil:
		return "", nil
	}
	s.Render(&b, 0, Vars{Redirect: next})
	q := &b.Request
	said := fmt.Sprintf("%d %s %s", q.Target, q.Method, q.Path)
	if len(q.Host) > 0 {
		said += " of " + string(q.Host)
	}
	if len(q.Body) > 0 {
		said += " with " + string(q.Body)
	}
	for _, h := range q.Headers {
		said += " " + h.Name
	}
	return said, next
}

func TestWhereARedirectLeads(t *testing.T) {
	const (
		whole, without = " Authorization X-Api-Key Content-Type Accept", " Authorization X-Api-Key Accept"
		notURL         = "!the Location of the redirect is not a URL of HTTP"
		elsewhere      = "!the redirect leads to another scheme, host or port than those of spec.target and spec.otherTargets: add it to spec.otherTargets, or expect the status"
		user           = "!the Location of the redirect has a user or a password"
	)
	for name, tt := range map[string]struct {
		change func(*Request)
		status int
		to     string
		want   string
	}{
		"a path":                           {status: 303, to: "/welcome?y=2#top", want: "0 GET /welcome?y=2" + without},
		"beside the path":                  {status: 303, to: "welcome", want: "0 GET /a/welcome" + without},
		"above the path":                   {status: 303, to: "../../b/./c", want: "0 GET /b/c" + without},
		"beside a path of two slashes":     {change: func(r *Request) { r.Path = "//a/login" }, status: 303, to: "b", want: "0 GET //a/b" + without},
		"another query":                    {status: 303, to: "?y=2", want: "0 GET /a/login?y=2" + without},
		"an absolute URL":                  {status: 303, to: "http://shop/welcome", want: "0 GET /welcome" + without},
		"the port by default":              {status: 303, to: "HTTP://SHOP:80", want: "0 GET /" + without},
		"another name of the host":         {status: 303, to: "http://shop.default.svc/b", want: "0 GET /b" + without},
		"another name, of any port":        {status: 303, to: "http://outer:123/b", want: "0 GET /b" + without},
		"without a scheme":                 {status: 303, to: "//shop/b", want: "0 GET /b" + without},
		"301 of POST":                      {status: 301, to: "/b", want: "0 GET /b" + without},
		"302 of POST":                      {status: 302, to: "/b", want: "0 GET /b" + without},
		"302 of PUT":                       {change: func(r *Request) { r.Method = "PUT" }, status: 302, to: "/b", want: "0 PUT /b with secret" + whole},
		"303 of PUT":                       {change: func(r *Request) { r.Method = "PUT" }, status: 303, to: "/b", want: "0 GET /b" + without},
		"303 of HEAD":                      {change: func(r *Request) { r.Method, r.Body = "HEAD", "" }, status: 303, to: "/b", want: "0 HEAD /b" + whole},
		"307":                              {status: 307, to: "/b", want: "0 POST /b with secret" + whole},
		"308":                              {status: 308, to: "/b", want: "0 POST /b with secret" + whole},
		"300":                              {status: 300, to: "/b"},
		"304":                              {status: 304, to: "/b"},
		"200":                              {status: 200, to: "/b"},
		"a request that follows none":      {change: func(r *Request) { r.Follow = 0 }, status: 302, to: "/b"},
		"another target":                   {status: 302, to: "https://identity:8443/b", want: "1 GET /b Accept"},
		"another target, with the body":    {status: 307, to: "https://identity:8443/b", want: "1 POST /b with secret Content-Type Accept"},
		"an address":                       {status: 302, to: "http://[FD00::1]:8080/b", want: "2 GET /b Accept"},
		"the host that the target is told": {change: func(r *Request) { r.Headers = []Header{{Name: "Host", Value: "www.shop"}} }, status: 302, to: "http://www.shop/b", want: "0 GET /b of www.shop"},
		"a path of that host":              {change: func(r *Request) { r.Headers = []Header{{Name: "Host", Value: "www.shop"}} }, status: 302, to: "/b", want: "0 GET /b of www.shop"},
		"from that host to the target's":   {change: func(r *Request) { r.Headers = []Header{{Name: "Host", Value: "www.shop"}} }, status: 302, to: "http://shop/b", want: "0 GET /b"},
		"that host over TLS":               {change: func(r *Request) { r.Headers = []Header{{Name: "Host", Value: "www.shop"}} }, status: 302, to: "https://www.shop/b", want: elsewhere},

		"another host":            {status: 302, to: "http://evil/welcome", want: elsewhere},
		"the metadata of a cloud": {status: 302, to: "http://169.254.169.254/latest/meta-data/", want: elsewhere},
		"another port":            {status: 302, to: "http://shop:81/", want: elsewhere},
		"another scheme":          {status: 302, to: "https://shop/", want: elsewhere},
		"a scheme that is none":   {status: 302, to: "file:///etc/passwd", want: elsewhere},
		"no host":                 {status: 302, to: "http:///b", want: elsewhere},
		"an opaque URL":           {status: 302, to: "http:b", want: elsewhere},
		"the target as a user":    {status: 302, to: "http://shop@evil/", want: user},
		"a user of the target":    {status: 302, to: "http://u:p@shop/", want: user},
		"a prefix of the host":    {status: 302, to: "http://shop.evil/", want: elsewhere},
		"two slashes":             {status: 302, to: "//evil/b", want: elsewhere},
		"backslashes":             {status: 302, to: `\\evil\b`, want: `0 GET /a/%5C%5Cevil%5Cb` + without},
		"a space in the query":    {status: 302, to: "/b?a b", want: "!the Location of the redirect: the character at 4 must be percent-encoded, as it stands in a path"},
		"a space in the path":     {status: 302, to: "/b c", want: "0 GET /b%20c" + without},
		"no Location":             {status: 302, want: "!the redirect has no Location, or one of more than 8192 bytes"},
		"a long Location":         {status: 302, to: "/" + strings.Repeat("x", 9000), want: "!the redirect has no Location, or one of more than 8192 bytes"},
		"no URL":                  {status: 302, to: "http://[::1", want: notURL},
		"control characters":      {status: 302, to: "/b\x01c", want: notURL},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := redirected(redirecting(t, tt.change), nil, tt.status, tt.to); got != tt.want {
				t.Errorf("%d to %.60s\ngot  %s\nwant %s", tt.status, tt.to, got, tt.want)
			}
		})
	}
}

// Each redirect is resolved against where the one before has led, and what was left out is not sent again.
func TestAChainOfRedirects(t *testing.T) {
	s := redirecting(t, nil)
	first, r := redirected(s, nil, 302, "https://identity:8443/x/y")
	if first != "1 GET /x/y Accept" {
		t.Error(first)
	}
	for to, want := range map[string]string{
		"z?q":                   "1 GET /x/z?q Accept",
		"http://shop/back":      "0 GET /back Accept", // its credentials were left behind
		"//identity:8443/a":     "1 GET /a Accept",
		"http://identity:8443/": "!the redirect leads to another scheme, host or port than those of spec.target and spec.otherTargets: add it to spec.otherTargets, or expect the status",
	} {
		if got, _ := redirected(s, r, 307, to); got != want {
			t.Errorf("%s: %s, want %s", to, got, want)
		}
	}
	_, r = redirected(s, r, 302, "/third")
	if got, _ := redirected(s, r, 302, "/fourth"); got != "!it is redirect 3 of the request, which follows 2" {
		t.Error(got)
	}
}

// A user's cookies go where they belong, from each response of a chain.
func TestCookiesOfRedirects(t *testing.T) {
	s := mustNew(t, Config{
		Requests: []Request{{Name: "login", Method: "POST", Path: "/login", Follow: 3}, {Name: "cart", Method: "GET", Path: "/cart"}},
		Origins:  []Origin{{URL: "http://shop"}, {URL: "https://identity"}},
		Journeys: []Journey{{Name: "j", Weight: 1, Steps: []JourneyStep{{Request: 0, Times: 1, CaptureFrom: []Capture{{Name: "sid", Cookie: "sid"}}}, {Request: 1, Times: 1}}}},
	})
	w := s.NewWalk(1, 0, 1)
	var b Buffer
	var r *Redirect
	w.Render(&b, Vars{})
	var got []string
	for _, step := range []struct{ cookies, to string }{
		{"sid=1; Path=/", "https://identity/in"}, {"who=ann; Secure", "http://shop/back"}, {"sid=2; Path=/\nonly=b; Path=/back", ""},
	} {
		response := &transport.Response{Status: 200, SetCookies: []byte(step.cookies)}
		if step.to == "" {
			must.Succeed(t, w.Answer(response))
			break
		}
		response.Status, response.Fields = 302, []byte("Location:"+step.to+"\n")
		next, err := s.Follow(0, &b.Request, r, response)
		must.Succeed(t, err)
		w.TakeCookies(response)
		r = next
		w.Render(&b, Vars{Redirect: r})
		got = append(got, fmt.Sprintf("%d %s %s", b.Request.Target, b.Request.Path, b.Request.Headers))
	}
	w.Next(true, pace.NewDraws(1, 0))
	w.Render(&b, Vars{})
	got = append(got, fmt.Sprintf("%d %s %s", b.Request.Target, b.Request.Path, b.Request.Headers))
	if all := strings.Join(got, "; "); all != "1 /in []; 0 /back [{Cookie sid=1}]; 0 /cart [{Cookie sid=2}]" {
		t.Error(all)
	}
	if value, ok := w.jars[1].Value("who", time.Now()); !ok || string(value) != "ann" {
		t.Errorf("the other target's cookie is %q", value)
	}
	if string(w.values[0]) != "2" {
		t.Errorf("captured %q", w.values[0])
	}
}

// Whatever a target answers, a redirect goes to a target, and is one line.
func FuzzRedirects(f *testing.F) {
	for _, to := range []string{"/a", "//shop/a", "http://shop@evil/", "http:b", "\\\\evil", "?a b", "http://[::1]:8080/\r\nX: y"} {
		f.Add(to, "//identity:8443/../a")
	}
	s, err := New(Config{
		Requests: []Request{{Name: "r", Weight: 1, Method: "GET", Path: "/a/b?c", Follow: 2}},
		Origins:  []Origin{{URL: "http://shop"}, {URL: "https://identity:8443"}},
	})
	must.Succeed(f, err)
	f.Fuzz(func(t *testing.T, first, second string) {
		var b Buffer
		var r *Redirect
		for _, to := range []string{first, second} {
			s.Render(&b, 0, Vars{Redirect: r})
			next, err := s.Follow(0, &b.Request, r, &transport.Response{Status: 302, Fields: []byte("Location:" + to + "\n")})
			if err != nil {
				return
			}
			r = next
			s.Render(&b, 0, Vars{Redirect: r})
			if q := &b.Request; q.Target > 1 || !strings.HasPrefix(string(q.Path), "/") || strings.ContainsAny(string(q.Path), " \r\n\x00#") {
				t.Errorf("%q and %q lead to %d %q", first, second, q.Target, q.Path)
			}
		}
	})
}

// The method of a redirect follows from the method that was sent: that of the line of a log.
func TestARedirectOfALineFollowsFromItsMethod(t *testing.T) {
	s, err := New(Config{Requests: []Request{{Name: "all", Weight: 1, Method: "GET", Path: "/", Body: "b", Follow: 1}}, Origins: []Origin{{URL: "http://shop"}}})
	must.Succeed(t, err)
	for _, tt := range []struct {
		method string
		status int
		want   string
	}{{"POST", 302, "GET"}, {"POST", 301, "GET"}, {"HEAD", 303, "HEAD"}, {"PUT", 302, "PUT"}} {
		var b Buffer
		v := Vars{Method: tt.method, Path: "/form"}
		s.Render(&b, 0, v)
		v.Redirect, err = s.Follow(0, &b.Request, nil, &transport.Response{Status: tt.status, Fields: []byte("Location:/done\n")})
		must.Succeed(t, err)
		if s.Render(&b, 0, v); b.Request.Method != tt.want || tt.want == "GET" && len(b.Request.Body) > 0 {
			t.Errorf("%s answered by %d is followed by %s with %d bytes, want %s", tt.method, tt.status, b.Request.Method, len(b.Request.Body), tt.want)
		}
	}
}

package cookie

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestCookiesThatARequestHas(t *testing.T) {
	for name, tt := range map[string]struct {
		set    []string
		from   string // the path of the request that they answer
		path   string
		later  time.Duration
		secure bool
		want   string
	}{
		"a session":                    {set: []string{"sid=1"}, from: "/login", path: "/cart", want: "sid=1"},
		"two, as they were set":        {set: []string{"a=1", "b=2"}, from: "/", path: "/", want: "a=1; b=2"},
		"the longer path first":        {set: []string{"a=1", "b=2; Path=/cart"}, from: "/", path: "/cart/7", want: "b=2; a=1"},
		"set again":                    {set: []string{"a=1", "a=2"}, from: "/", path: "/", want: "a=2"},
		"deleted by Max-Age":           {set: []string{"a=1", "b=2", "a=; Max-Age=0"}, from: "/", path: "/", want: "b=2"},
		"deleted by a negative age":    {set: []string{"a=1", "a=; Max-Age=-1"}, from: "/", path: "/"},
		"deleted by Expires":           {set: []string{"a=1", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}, from: "/", path: "/"},
		"deleted by hyphens":           {set: []string{"a=1", "a=; expires=Thu, 01-Jan-1970 00:00:00 GMT"}, from: "/", path: "/"},
		"a year of two digits":         {set: []string{"a=1; expires=Thu, 31-Dec-37 23:55:55 GMT", "b=1; Expires=Fri, 31-Dec-99 23:59:59 GMT"}, from: "/", path: "/", want: "a=1"},
		"a date in another order":      {set: []string{"a=1", "a=; Expires=2 february 1998 1:2:3 UTC", "b=1; Expires=Mon 1 Mar 2027 00:00:00 UTC"}, from: "/", path: "/", want: "b=1"},
		"dates that are none":          {set: []string{"a=1; Expires=0", "b=1; Expires=31-Jan-1970 24:00:00", "c=1; Expires=31 Feb 1999 00:00:00", "d=1; Expires=1 Jan 1601"}, from: "/", path: "/", want: "a=1; b=1; c=1; d=1"},
		"Max-Age goes before Expires":  {set: []string{"a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}, from: "/", path: "/", want: "a=1"},
		"expired meanwhile":            {set: []string{"a=1; Max-Age=60", "b=2; max-age=61"}, from: "/", path: "/", later: time.Minute, want: "b=2"},
		"an age beyond all bounds":     {set: []string{"a=1; Max-Age=9223372036854775807"}, from: "/", path: "/", want: "a=1"},
		"another path":                 {set: []string{"a=1; Path=/cart"}, from: "/", path: "/cartoon"},
		"its own path":                 {set: []string{"a=1; Path=/cart"}, from: "/", path: "/cart?x=/", want: "a=1"},
		"the directory of the request": {set: []string{"a=1"}, from: "/shop/login?next=/a/b", path: "/shop/cart", want: "a=1"},
		"outside of the directory":     {set: []string{"a=1"}, from: "/shop/login", path: "/cart"},
		"a path that is none":          {set: []string{"a=1; Path=cart"}, from: "/login", path: "/cart", want: "a=1"},
		"Secure over plain HTTP":       {set: []string{"a=1; Secure"}, from: "/", path: "/"},
		"Secure over TLS":              {set: []string{"a=1; secure; HttpOnly"}, from: "/", path: "/", secure: true, want: "a=1"},
		"an equals sign in the value":  {set: []string{"a=b=c"}, from: "/", path: "/", want: "a=b=c"},
		"no name":                      {set: []string{"=1", "1", ""}, from: "/", path: "/"},
		"control characters":           {set: []string{"a=1\r2", "b\x00=1", "c=\x7f"}, from: "/", path: "/"},
	} {
		t.Run(name, func(t *testing.T) {
			var j Jar
			j.Set([]byte(strings.Join(tt.set, "\n")), []byte(tt.from), noon)
			if got := string(j.Append(nil, []byte(tt.path), tt.secure, noon.Add(tt.later))); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAJarIsBounded(t *testing.T) {
	var j Jar
	for i := range 100 {
		j.Set(fmt.Appendf(nil, "c%d=1", i), []byte("/"), noon)
	}
	if got := string(j.Append(nil, []byte("/"), false, noon)); strings.Count(got, "=") != maxCookies {
		t.Errorf("%q, want %d cookies", got, maxCookies)
	}
	j.Clear()
	if !j.IsEmpty() {
		t.Error("a jar that was cleared has cookies")
	}
	for i := range 3 {
		j.Set([]byte(fmt.Sprintf("c%d=", i)+strings.Repeat("x", 2000)), []byte("/"), noon)
	}
	if got := len(j.Append(nil, []byte("/"), false, noon)); got > maxBytes+2 {
		t.Errorf("%d bytes of cookies, want %d at most", got, maxBytes)
	}
	// What was set again does not take its room twice.
	j.Clear()
	for range 10 {
		j.Set([]byte("a="+strings.Repeat("x", maxBytes/2)), []byte("/"), noon)
	}
	if got := len(j.Append(nil, []byte("/"), false, noon)); got != maxBytes/2+2 {
		t.Errorf("%d bytes of a cookie that was set again, want %d", got, maxBytes/2+2)
	}
}

// Whatever a target sets, no request is split by it.
func FuzzCookies(f *testing.F) {
	f.Add("a=1; Path=/; Max-Age=1", "/a/b?c", "/a")
	f.Add("a=1\nb=2;;;=;Path", "", "/")
	f.Fuzz(func(t *testing.T, lines, from, path string) {
		var j Jar
		j.Set([]byte(lines), []byte(from), noon)
		header := string(j.Append(nil, []byte(path), true, noon))
		if strings.ContainsAny(header, "\r\n\x00") || len(header) > maxBytes+3*maxCookies {
			t.Errorf("%q", header)
		}
	})
}

// Cookies that have expired take no room (RFC 6265, 5.3: a user agent evicts them first).
func TestCookiesThatHaveExpiredTakeNoRoom(t *testing.T) {
	var j Jar
	now := time.Now()
	for i := range maxCookies {
		j.Set(fmt.Appendf(nil, "flash%d=x; Path=/; Max-Age=1", i), []byte("/"), now)
	}
	now = now.Add(time.Minute)
	j.Set([]byte("sid=1; Path=/"), []byte("/login"), now)
	if got := string(j.Append(nil, []byte("/"), false, now)); got != "sid=1" {
		t.Errorf("Cookie: %q, want sid=1", got)
	}
}

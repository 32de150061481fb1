package targetsfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/targetsfile"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var shortener = targetsfile.Origin{URL: "http://shortener.demo.svc:8080", Aliases: []string{"shortener:8080", "anyport"}}

// read returns the targets of a text as they are sent, in their order.
func read(t *testing.T, text string, format targetsfile.Format) ([]string, error) {
	t.Helper()
	targets, err := targetsfile.Read(strings.NewReader(text), format, shortener)
	if err != nil {
		return nil, err
	}
	s, err := source.New(source.Config{Requests: []source.Request{{Name: "replay", Weight: 1, Targets: targets}}})
	must.Succeed(t, err)
	var sent []string
	var b source.Buffer
	for n := range targets.Len() {
		s.Render(&b, 0, source.Vars{Seq: int64(n)})
		line := fmt.Sprintf("%s %s", b.Request.Method, b.Request.Path)
		for _, h := range b.Request.Headers {
			line += fmt.Sprintf(" %s=%s", h.Name, h.Value)
		}
		if len(b.Request.Host) > 0 {
			line += fmt.Sprintf(" Host=%s", b.Request.Host)
		}
		if len(b.Request.Body) > 0 {
			line += fmt.Sprintf(" %q", b.Request.Body)
		}
		sent = append(sent, line)
	}
	return sent, nil
}

func TestTargetsAreReadAsVegetaReadsThem(t *testing.T) {
	tests := map[string]struct {
		text   string
		format targetsfile.Format
		want   []string
	}{
		"HTTP": {
			text: `# a comment
GET http://shortener.demo.svc:8080/a?b=%20c
GET http://shortener:8080/${user}
X-B: 2
x-a: 1
X-A: 3
# another
Host: w.example

  DELETE /relative
PUT http://anyport:1234?q`,
			want: []string{
				"GET /a?b=%20c", "GET /${user} X-A=3 X-B=2 X-A=1 Host=w.example", "DELETE /relative", "PUT /?q",
			},
		},
		"JSON": {
			format: targetsfile.JSON,
			text: `{"method": "POST", "url": "http://SHORTENER:8080/urls", "header": {"Content-Type": ["a", "b"]}, "body": "Zm9v"}

{"method": "GET", "url": "/last-line-without-a-break"}`,
			want: []string{`POST /urls Content-Type=a Content-Type=b "foo"`, "GET /last-line-without-a-break"},
		},
		"a host alone":          {text: "GET http://shortener:8080", want: []string{"GET /"}},
		"carriage returns":      {text: "GET /a\r\nA: b\r\n\r\nGET /b\r\n", want: []string{"GET /a A=b", "GET /b"}},
		"a slash of their own":  {text: "GET //shortener/a", want: []string{"GET //shortener/a"}},
		"templates are not any": {text: "GET /$\nA: ${seq}", want: []string{"GET /$ A=${seq}"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := read(t, tt.text, tt.format)
			must.Succeed(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMistakesAreRefusedWithTheirLine(t *testing.T) {
	json := targetsfile.JSON
	tests := map[string]struct {
		text   string
		format targetsfile.Format
		want   string
	}{
		"another host":           {text: "GET /\n\n# it\nGET http://other.example/secret\nA: b", want: "line 4: the URL has another scheme, host or port than spec.target, http://shortener.demo.svc:8080"},
		"another host at once":   {text: "GET /\nGET http://other.example/", want: "line 2: the URL has another"},
		"another host, headers":  {text: "GET /\nA: b\n\n\nGET http://other.example/\nA: b\nB: c", want: "line 5: the URL has another"},
		"another port":           {text: "GET http://shortener/", want: "line 1: the URL has another"},
		"another scheme":         {text: "GET https://shortener:8080/", want: "line 1: the URL has another"},
		"a host before an at":    {text: "GET http://shortener:8080@other.example/", want: "line 1: the URL has a user or password"},
		"a backslash":            {text: "GET http://other.example\\\\@shortener:8080/", want: "line 1: bad URL"},
		"a file of the worker":   {text: "GET /\nA: b\n @/var/run/secrets/token", want: "line 3: a worker cannot read a body from another file: write the targets in the JSON format"},
		"a file at once":         {text: "@/var/run/secrets/token", want: "line 1: a worker cannot read a body from another file"},
		"no method":              {text: "GET /\n\nget /", want: "line 3: bad method: write a method and a URL on a line"},
		"no URL":                 {text: "GET", want: "line 1: bad target: write"},
		"no header":              {text: "GET /\nA: b\nsecret", want: "line 3: bad header: write"},
		"a target for a header":  {text: "GET /a\n# comment\nGET http://shortener:8080/b", want: "line 1: header"},
		"a length":               {text: "GET /\nContent-Length: 1", want: `line 1: header "Content-Length": follows from the body`},
		"a fragment":             {text: "GET /#a", want: "line 1: path: "},
		"CONNECT":                {text: "CONNECT /", want: `line 1: method: is not one that can be sent`},
		"nothing":                {text: "# only a comment\n", want: "has no target: write a method"},
		"a long line":            {text: "GET /\nA: " + strings.Repeat("a", 1<<16) + "\n\nGET /lost", want: "line 2: has more than 65536 bytes"},
		"JSON, nothing":          {format: json, text: "\n", want: "has no target: write {"},
		"JSON, none":             {format: json, text: "\n{\"method\": secret}", want: "line 2: parse error: write {"},
		"JSON, no method":        {format: json, text: "{\"url\": \"/\"}", want: "line 1: target: write {"},
		"JSON, another host":     {format: json, text: "\n{\"method\": \"GET\", \"url\": \"http://other.example/\"}\n", want: "line 2: the URL has another"},
		"JSON, neither":          {format: json, text: "{\"method\": \"GET\", \"url\": \"shortener\"}", want: "line 1: the URL has neither a scheme nor a slash"},
		"JSON, a request within": {format: json, text: `{"method": "GET", "url": "/a HTTP/1.1\r\nX: y"}`, want: "line 1: path: "},
		"no name of a header":    {format: json, text: `{"method": "GET", "url": "/", "header": {"secret secret": ["b"]}}`, want: "line 1: header: is not a header name"},
		"JSON, a header within":  {format: json, text: `{"method": "GET", "url": "/", "header": {"A": ["b\r\nC: d"]}}`, want: "line 1: header \"A\": its value holds a control character"},
		"JSON, a method within":  {format: json, text: `{"method": "GET / HTTP/1.1\r\n", "url": "/"}`, want: "line 1: method: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := read(t, tt.text, tt.format)
			if err == nil {
				t.Fatalf("read %q, want an error", got)
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %q\n does not begin with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("error %q shows what may be secret", err)
			}
		})
	}
}

// Another host may be at the same address, and not be allowed.
func TestTargetsAreForTheOwnHostOnly(t *testing.T) {
	own := targetsfile.Origin{URL: "https://shop.example.com", Aliases: []string{"shop"}, OwnHostOnly: true}
	for host, allowed := range map[string]bool{
		"shop.example.com": true, "SHOP.example.com:443": true, "shop": true, "": false, "shop.example.com:8443": false,
		"bank.example.net": false, "bank.example.net@shop.example.com": false, "shop.example.com/": false, "shop.example.com?": false, "${host}": false,
	} {
		for text, format := range map[string]targetsfile.Format{
			"GET /\nA: b\nhost: " + host: targetsfile.HTTP, fmt.Sprintf(`{"method": "GET", "url": "/", "header": {"hosT": [%q]}}`, host): targetsfile.JSON,
		} {
			_, err := targetsfile.Read(strings.NewReader(text), format, own)
			if allowed != (err == nil) || err != nil && host != "" && !strings.HasPrefix(err.Error(), "line 1: header Host has another host than spec.target, https://shop.example.com: ") {
				t.Errorf("%s: %v, want that it is allowed: %t", text, err, allowed)
			}
		}
	}
}

// The file that a body names is there: a Targeter that is not held back reads it.
func TestNoFileOfTheWorkerIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	must.Succeed(t, os.WriteFile(file, []byte("token"), 0o600))
	for _, text := range []string{"POST /\n@" + file, "POST /\nA: b\n\t@" + file + "\r\n", "POST /\n# comment\n@" + file} {
		if got, err := read(t, text, targetsfile.HTTP); err == nil {
			t.Errorf("%q was read as %q", text, got)
		}
	}
}

func TestManyTargetsTakeLittleMemory(t *testing.T) {
	for _, n := range []int{10_000, source.MaxTargets} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "GET /%d\n", i)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		targets, err := targetsfile.Read(strings.NewReader(text.String()), targetsfile.HTTP, shortener)
		must.Succeed(t, err)
		runtime.GC()
		runtime.ReadMemStats(&after)
		kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		if targets.Len() != n || kept > int64(n)*100 {
			t.Errorf("%d targets of %d take %d bytes each, want at most 100", targets.Len(), n, kept/int64(n))
		}
		runtime.KeepAlive(targets)
	}
}

func TestMoreTargetsThanABoundAreRefused(t *testing.T) {
	text := strings.Repeat("GET /\n", source.MaxTargets+1)
	want := fmt.Sprintf("line %d: is more than the %d targets of a request", source.MaxTargets+1, source.MaxTargets)
	if _, err := read(t, text, targetsfile.HTTP); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	if _, err := read(t, strings.Repeat("#\n", targetsfile.MaxSize/2+1), targetsfile.HTTP); err == nil || !strings.HasPrefix(err.Error(), "is larger than 16 MiB") {
		t.Errorf("error %v, want one of the size", err)
	}
}

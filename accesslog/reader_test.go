package accesslog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/accesslog"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// read reads a whole log.
func read(t testing.TB, log string, fields *accesslog.Fields) ([]accesslog.Entry, accesslog.Counts) {
	t.Helper()
	r, err := accesslog.NewReader(strings.NewReader(log), fields)
	must.Succeed(t, err)
	var list []accesslog.Entry
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, r.Counts()
		}
		must.Succeed(t, err)
		e.Path = strings.Clone(e.Path)
		list = append(list, e)
	}
}

const noon = "2026-11-28T12:00:00"

func TestLines(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		line string
		want accesslog.Entry
		at   string
	}{
		"common":                      {`10.0.0.1 - - [28/Nov/2026:12:00:00 +0000] "GET /a?b=c HTTP/1.1" 200 12`, accesslog.Entry{Method: "GET", Path: "/a?b=c", Status: 200}, noon},
		"combined":                    {`10.0.0.1 - ann [28/Nov/2026:12:00:00 +0000] "POST /a HTTP/2.0" 201 12 "https://x/" "curl/8"`, accesslog.Entry{Method: "POST", Path: "/a", Status: 201}, noon},
		"another zone":                {`::1 - - [28/Nov/2026:17:30:00 +0530] "GET / HTTP/1.1" 304 -`, accesslog.Entry{Method: "GET", Path: "/", Status: 304}, noon},
		"a virtual host":              {`shop.example.com:443 10.0.0.1 - - [28/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-"`, accesslog.Entry{Method: "GET", Scheme: "https", Host: "shop.example.com", Path: "/", Status: 200}, noon},
		"a user with a space":         {`10.0.0.1 - ann b [28/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1`, accesslog.Entry{Method: "GET", Path: "/", Status: 200}, noon},
		"an address in brackets":      {`10.0.0.1 - [10.0.0.1] - - [28/Nov/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 1`, accesslog.Entry{Method: "GET", Path: "/a", Status: 200}, noon},
		"the name of a pod before it": {`[pod/nginx-1/nginx] 10.0.0.1 - - [28/Nov/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 1`, accesslog.Entry{Method: "GET", Path: "/a", Status: 200}, noon},
		"a pod's name, Envoy":         {`[pod/envoy-1/envoy] [2026-11-28T12:00:00.310Z] "GET /a HTTP/2" 200 - 0 12 41 40 "10.0.0.1" "agent" "id" "shop:80" "10.1.1.1:80"`, accesslog.Entry{Method: "GET", Path: "/a", Status: 200}, noon + ".31"},
		"escaped quotes, Apache":      {`a - - [28/Nov/2026:12:00:00 +0000] "GET /\"a\\b\"?\t\b\v HTTP/1.1" 404 1`, accesslog.Entry{Method: "GET", Path: `/"a\b"?%09%08%0B`, Status: 404}, noon},
		"escaped bytes, Nginx":        {`a - - [28/Nov/2026:12:00:00 +0000] "GET /\x22\xC3\xA9\x00#f HTTP/1.1" 404 1`, accesslog.Entry{Method: "GET", Path: `/"%C3%A9%00%23f`, Status: 404}, noon},
		"a path with spaces":          {`a - - [28/Nov/2026:12:00:00 +0000] "GET /a b HTTP/1.1" 400 1`, accesslog.Entry{Method: "GET", Path: "/a%20b", Status: 400}, noon},
		"an absolute URL":             {`a - - [28/Nov/2026:12:00:00 +0000] "GET http://ann:secret@Shop:8080?x HTTP/1.1" 200 1`, accesslog.Entry{Method: "GET", Scheme: "http", Host: "shop:8080", Path: "/?x", Status: 200}, noon},
		"a URL in a query":            {`a - - [28/Nov/2026:12:00:00 +0000] "GET /go?to=http://b/ HTTP/1.1" 302 1`, accesslog.Entry{Method: "GET", Path: "/go?to=http://b/", Status: 302}, noon},
		"a template":                  {`a - - [28/Nov/2026:12:00:00 +0000] "GET /${user} HTTP/1.1" 200 1`, accesslog.Entry{Method: "GET", Path: "/${user}", Status: 200}, noon},
		"no status":                   {`a - - [28/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" - -`, accesslog.Entry{Method: "GET", Path: "/"}, noon},
		"Envoy":                       {`[2026-11-28T12:00:00.310Z] "GET /a HTTP/2" 200 - 0 12 41 40 "10.0.0.1" "a "b" c" "id" "shop:80" "10.1.1.1:80"`, accesslog.Entry{Method: "GET", Path: "/a", Status: 200, Duration: 41 * ms}, noon + ".31"},
		"Envoy, its host":             {`[2026-11-28T12:00:00.310Z] "GET /a HTTP/2" 200 - 0 12 41 40 "10.0.0.1" "agent" "id" "shop:80" "10.1.1.1:80"`, accesslog.Entry{Method: "GET", Path: "/a", Scheme: "http", Host: "shop", Status: 200, Duration: 41 * ms}, noon + ".31"},
		"Istio":                       {`[2026-11-28T12:00:00.000Z] "GET /a HTTP/1.1" 503 UF upstream_reset - "why (a) b" 0 91 1003 - "-" "agent" "id" "shop.default.svc:8080" "10.1.1.1:80" outbound|80||x - 10.0.0.1:1 10.0.0.2:2 - default`, accesslog.Entry{Method: "GET", Path: "/a", Host: "shop.default.svc:8080", Status: 503, Duration: 1003 * ms}, noon},
		"Envoy without a client":      {`[2026-11-28T12:00:00.000Z] "GET /a HTTP/1.1" 0 DC 0 0 5 - "-" "-" "id" "shop" "-"`, accesslog.Entry{Method: "GET", Path: "/a", Host: "shop", Duration: 5 * ms}, noon},
		"AWS":                         {`h2 2026-11-28T12:00:00.000000Z app/lb/1 1.2.3.4:5 10.0.0.1:80 0.001 0.02 0.000 200 200 34 366 "GET https://shop.example.com:443/a?b=1 HTTP/2.0" "agent" - - arn:x "Root=1"`, accesslog.Entry{Method: "GET", Scheme: "https", Host: "shop.example.com", Path: "/a?b=1", Status: 200, Duration: 21 * ms}, noon},
		"AWS, no response":            {`http 2026-11-28T12:00:00.000000Z app/lb/1 1.2.3.4:5 - -1 -1 -1 460 - 34 366 "GET http://shop:80/ HTTP/1.1" "-" - - - "Root=1"`, accesslog.Entry{Method: "GET", Scheme: "http", Host: "shop", Path: "/", Status: 460}, noon},
		"Envoy, JSON":                 {`{"start_time":"2026-11-28T12:00:00.000Z","method":"GET","path":"/new","x-envoy-origin-path":"/a","response_code":200,"duration":7,":authority":"shop"}`, accesslog.Entry{Method: "GET", Host: "shop", Path: "/a", Status: 200, Duration: 7 * ms}, noon},
		"Google":                      {`{"httpRequest":{"requestMethod":"GET","requestUrl":"https://shop.example.com/a?b","status":200,"latency":"0.012s"},"timestamp":"2026-11-28T12:00:00Z"}`, accesslog.Entry{Method: "GET", Scheme: "https", Host: "shop.example.com", Path: "/a?b", Status: 200, Duration: 12 * ms}, noon},
		"Caddy":                       {`{"ts":1795867200.5,"request":{"method":"GET","host":"shop","uri":"/a"},"duration":0.012,"status":200}`, accesslog.Entry{Method: "GET", Host: "shop", Path: "/a", Status: 200, Duration: 12 * ms}, noon + ".5"},
		"Traefik":                     {`{"StartUTC":"2026-11-28T12:00:00Z","RequestMethod":"GET","RequestPath":"/a","RequestHost":"shop","RequestScheme":"https","DownstreamStatus":200,"Duration":12000000,"time":"2026-11-28T12:00:01Z"}`, accesslog.Entry{Method: "GET", Scheme: "https", Host: "shop", Path: "/a", Status: 200, Duration: 12 * ms}, noon},
		"Nginx, JSON":                 {`{"time_local":"28/Nov/2026:12:00:00 +0000","request":"GET /a?b HTTP/1.1","status":"200","http_host":"shop","request_time":"0.012"}`, accesslog.Entry{Method: "GET", Host: "shop", Path: "/a?b", Status: 200, Duration: 12 * ms}, noon},
		"JSON, path and query":        {`{"time":1795867200000,"method":"GET","uri":"/a","args":"b=1"}`, accesslog.Entry{Method: "GET", Path: "/a?b=1"}, noon},
		"a host that is none":         {`{"time":1795867200,"method":"GET","path":"/","host":"x\"; rm"}`, accesslog.Entry{Method: "GET", Path: "/"}, noon},
		"a port that is none":         {`{"time":1795867200,"method":"GET","path":"/","host":"x:70000"}`, accesslog.Entry{Method: "GET", Path: "/"}, noon},
		"an address of IPv6":          {`{"time":1795867200,"method":"GET","path":"/","host":"[::1]:8080"}`, accesslog.Entry{Method: "GET", Host: "[::1]:8080", Path: "/"}, noon},
		"a duration that never ended": {`{"time":1795867200,"method":"GET","path":"/","request_time":"1e300"}`, accesslog.Entry{Method: "GET", Path: "/"}, noon},
	} {
		t.Run(name, func(t *testing.T) {
			list, counts := read(t, tt.line+"\r\n", nil)
			if len(list) != 1 {
				t.Fatalf("not parsed: %+v", counts.Mistakes)
			}
			got := list[0]
			if at := got.Time.UTC().Format("2006-01-02T15:04:05.999"); at != tt.at {
				t.Errorf("at %s, want %s", at, tt.at)
			}
			got.Time, tt.want.Line = time.Time{}, 1
			same.As(t, "entry", tt.want, got)
		})
	}
}

func TestLinesThatAreNoRequest(t *testing.T) {
	const at = `a - - [28/Nov/2026:12:00:00 +0000] `
	for name, tt := range map[string]struct{ line, want string }{
		"something else":          {"starting nginx", "the line has no known format"},
		"binary":                  {"\x00\xff\x16\x03", "has no known format"},
		"no request":              {at + `"-" 408 0`, "there is no request"},
		"TLS sent to HTTP":        {at + `"\x16\x03\x01 \x02" 400 0`, "the method is no word"},
		"a method of lower case":  {at + `"get / HTTP/1.1" 400 0`, "the method is no word"},
		"no path":                 {at + `"CONNECT shop:443 HTTP/1.1" 400 0`, "the path does not begin with a slash"},
		"no closing quote":        {at + `"GET / HTTP/1.1 200`, "there is no request"},
		"a backslash at its end":  {at + `"GET / \`, "there is no request"},
		"no month":                {`a - - [28/Foo/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 0`, "the time must be such as"},
		"year 0":                  {`a - - [01/Jan/0000:12:00:00 +0000] "GET / HTTP/1.1" 200 0`, "of the years 1970 to 2261"},
		"year 9999":               {`a - - [01/Jan/9999:12:00:00 +0000] "GET / HTTP/1.1" 200 0`, "of the years 1970 to 2261"},
		"a status that is none":   {at + `"GET / HTTP/1.1" 999 0`, "the status is no number"},
		"no status":               {at + `"GET / HTTP/1.1" ok 0`, "the status is no number"},
		"half of an object":       {`{"time":1,`, "no object of JSON"},
		"an object of others":     {`{"level":"info"}`, "name them"},
		"a time that is NaN":      {`{"time":"NaN","method":"GET","path":"/"}`, "the time must be such as"},
		"a negative time":         {`{"time":-5,"method":"GET","path":"/"}`, "the time must be such as"},
		"a time beyond all":       {`{"time":1e300,"method":"GET","path":"/"}`, "the time must be such as"},
		"half of Envoy":           {`[2026-11-28T12:00:00Z] "GET /`, "there is no request"},
		"Envoy without a status":  {`[2026-11-28T12:00:00Z] "GET / HTTP/1.1"`, "the status is no number"},
		"Envoy without a request": {`[2026-11-28T12:00:00Z] info`, "not of Envoy's text format"},
		"half of AWS":             {`https 2026-11-28T12:00:00.000000Z app`, "not of an AWS"},
		"a method without end":    {at + `"` + strings.Repeat("A", 100) + ` / HTTP/1.1" 400 0`, "the method is no word"},
	} {
		t.Run(name, func(t *testing.T) {
			list, counts := read(t, "\n"+tt.line, nil)
			if len(list) != 0 || counts.Lines != 1 || counts.NotParsed != 1 {
				t.Fatalf("%+v of %+v", counts, list)
			}
			if m := counts.Mistakes[0]; m.Line != 2 || !strings.Contains(m.Why, tt.want) {
				t.Errorf("line %d: %s; want line 2: …%s…", m.Line, m.Why, tt.want)
			}
		})
	}
}

func TestFieldsOfALogInJSON(t *testing.T) {
	fields, err := accesslog.ParseFields("time=at,method=http.verb,path=http.url,status=code,host=vhost,duration=took")
	must.Succeed(t, err)
	list, _ := read(t, `{"at":"2026-11-28 12:00:00","http":{"verb":"GET","url":"/a"},"code":"200","vhost":"shop","took":0.5}`, fields)
	if len(list) != 1 || list[0].Path != "/a" || list[0].Status != 200 || list[0].Host != "shop" || list[0].Duration != 500*time.Millisecond {
		t.Errorf("%+v", list)
	}
	for text, want := range map[string]string{
		"":                           `"" is not KIND=FIELD, with a kind of time, method,`,
		"when=a":                     `"when=a" is not KIND=FIELD`,
		"time":                       `"time" names no field`,
		"time=a,path=b":              "time, and method and path (or request",
		"method=a,path=b":            "time, and method and path (or request",
		"time=a,method=b,path=c,x=y": `"x=y" is not KIND=FIELD`,
	} {
		if _, err := accesslog.ParseFields(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want …%s…", text, err, want)
		}
	}
}

func line(at time.Time, path string) string {
	return fmt.Sprintf("10.0.0.1 - - [%s] \"GET %s HTTP/1.1\" 200 12 \"-\" \"agent\"\n", at.Format("02/Jan/2006:15:04:05 -0700"), path)
}

var start = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func TestTimesOutOfOrderAreCounted(t *testing.T) {
	var log strings.Builder
	for _, after := range []int{0, 5, 2, 5, 4, 6} {
		log.WriteString(line(start.Add(time.Duration(after)*time.Second), "/"))
	}
	list, counts := read(t, log.String(), nil)
	if len(list) != 6 || counts.Backwards != 2 || counts.Furthest != 3*time.Second {
		t.Errorf("%d entries, %+v", len(list), counts)
	}
}

// An entry has what its line says, whatever the lines before it say, and keeps it when later ones are read.
func TestAnEntryDependsOnItsLineAlone(t *testing.T) {
	lines := []string{
		`[2026-11-28T12:00:00.25Z] "GET /a HTTP/2" 200 - 0 12 41 40 "1" "a" "id" "shop" "-"`,
		`[2026-11-28T12:00:00.123456789Z] "PROPFIND /b HTTP/2" 200 - 0 12 41 40 "1" "a" "id" "[::1]:81" "-"`,
		`[2026-11-28T12:00:00.1234567891Z] "GET /more-digits HTTP/2" 200`,
		`[2026-11-28T12:00:00.Z] "GET /no-digits HTTP/2" 200`,
		`[2026-11-28T12:00:00Z] "GET /none HTTP/2" 200 - 0 12 41 40 "1" "a" "id" "other.shop" "-"`,
		`[2026-11-28T12:00:00.5+01:00] "GET /zone HTTP/2" 200`,
		`[2026-11-28T12:00:00.5x] "GET /no-zone HTTP/2" 200`,
		`[2026-11-28T12:00:60.5Z] "GET /no-second HTTP/2" 200`,
		`[28/Nov/2026:12:00:00.5 +0000] "GET /apache HTTP/2" 200`,
		`[1969-12-31T23:59:59.9Z] "GET /before HTTP/2" 200`,
		`[1795867200.25] "GET /number HTTP/2" 200`,
		`[1795867200.75] "GET /number HTTP/2" 200`,
		`a - - [28/Nov/2026:12:00:00 +0000] "GET /\"x\x22 HTTP/1.1" 404 1`,
		`shop.example.com:443 10.0.0.1 - - [28/Nov/2026:12:00:00 +0100] "GET http://A:80/ HTTP/1.1" 200 1 "-" "-"`,
		`http 2026-11-28T12:00:00.000000Z lb c t 0.1 0.2 0 200 200 3 6 "GET http://shop:80/ HTTP/2.0" "-"`,
		`{"time":"2026-11-28T12:00:00.25Z","method":"GET","path":"/j","host":"shop"}`,
		`{"time":1795867200.5,"method":"GET","path":"/j"}`,
	}
	var want, got []string
	var log strings.Builder
	for _, text := range lines {
		log.WriteString(strings.Repeat("x", 2*accesslog.MaxLine) + "\n") // which takes the place of what was read before
		for _, first := range lines {
			pair := first + "\n" + text + "\n"
			log.WriteString(pair)
			for _, line := range []string{first, text} {
				list, _ := read(t, line, nil)
				want = append(want, described(list)...)
			}
		}
	}
	list, _ := read(t, log.String(), nil)
	got = described(list)
	same.As(t, "entries", want, got)
}

// described are entries without the numbers of their lines.
func described(list []accesslog.Entry) (texts []string) {
	for _, e := range list {
		e.Line = 0
		at := e.Time.UTC().Format(time.RFC3339Nano)
		e.Time = time.Time{}
		texts = append(texts, fmt.Sprintf("%s %+v", at, e))
	}
	return texts
}

func TestGzipIsRead(t *testing.T) {
	var packed bytes.Buffer
	for range 2 { // as logs that were rotated are put together
		z := gzip.NewWriter(&packed)
		_, err := z.Write([]byte(line(start, "/")))
		must.Succeed(t, err)
		must.Succeed(t, z.Close())
	}
	list, _ := read(t, packed.String(), nil)
	if len(list) != 2 || list[1].Line != 2 {
		t.Errorf("%+v", list)
	}
	r, err := accesslog.NewReader(bytes.NewReader(packed.Bytes()[:packed.Len()-4]), nil)
	must.Succeed(t, err)
	for err == nil {
		_, err = r.Next()
	}
	if !strings.Contains(err.Error(), "read behind line 2: unexpected EOF") {
		t.Errorf("half of a file: %v", err)
	}
}

// endless is a text over and over again, up to a number of bytes.
type endless struct {
	text string
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(e.text), len(p), e.left)
	if e.left -= n; n == 0 {
		return 0, io.EOF
	}
	return copy(p[:n], e.text), nil
}

func TestALineWithoutEndIsPassedOver(t *testing.T) {
	before, after := strings.NewReader(line(start, "/a")), strings.NewReader("\n"+line(start, "/b"))
	var start, end runtime.MemStats
	r, err := accesslog.NewReader(io.MultiReader(before, &endless{strings.Repeat("x", 4096), 1 << 28}, after), nil)
	must.Succeed(t, err)
	runtime.ReadMemStats(&start)
	var paths []string
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		paths = append(paths, strings.Clone(e.Path))
	}
	runtime.ReadMemStats(&end)
	same.As(t, "paths", []string{"/a", "/b"}, paths)
	if c := r.Counts(); c.Lines != 3 || c.NotParsed != 1 || c.Mistakes[0].Line != 2 || !strings.Contains(c.Mistakes[0].Why, "more than 65536 bytes") {
		t.Errorf("%+v", c)
	}
	if grown := end.TotalAlloc - start.TotalAlloc; grown > 1<<20 {
		t.Errorf("a line of 256 MiB took %d bytes", grown)
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"0": "1970-01-01T00:00:00Z", "1795867200": noon + "Z", "1795867200.25": noon + ".25Z", "1795867200250": noon + ".25Z", "1795867200250000": noon + ".25Z",
		"1795867200250000000": noon + ".25Z", "2026-11-28T13:00:00+01:00": noon + "Z", "2026-11-28 12:00:00": noon + "Z", "2026-11-28T12:00:00+0000": noon + "Z",
	} {
		got, err := accesslog.ParseTime(text)
		if err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%s is %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "0x10", "1_000", "+Inf", "12:00"} {
		if got, err := accesslog.ParseTime(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// requests are what a log says of its requests alone.
func requests(t testing.TB, log string, only bool) (list []accesslog.Entry, counts accesslog.Counts) {
	t.Helper()
	r, err := accesslog.NewReader(strings.NewReader(log), nil)
	must.Succeed(t, err)
	if only {
		r.RequestsOnly()
	}
	e, err := r.Next()
	for ; err == nil; e, err = r.Next() {
		list = append(list, accesslog.Entry{Line: e.Line, Time: e.Time, Method: e.Method, Path: strings.Clone(e.Path), Status: e.Status})
	}
	return list, r.Counts()
}

// Whatever the bytes of a log, each line is counted once, and what is an entry is fit for a URL.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		line(start, "/a?b"), `{"start_time":"2026-11-28T12:00:00Z","method":"GET","path":"/a"}`, `[2026-11-28T12:00:00.310Z] "GET /a HTTP/2" 200 - 0 12 41 40 "1" "a" "id" "shop:80" "-"`,
		`h2 2026-11-28T12:00:00.0Z lb c t 0.1 0.2 0 200 200 3 6 "GET https://shop:443/ HTTP/2.0" "-"`, "a - - [28/Nov/2026:12:00:00 +0000] \"GET /\\x2", "\x1f\x8b", harOf(harEntry(0, "GET", "http://shop/a?b", "<x>")), `{"time":1,"method":"GET","uri":"/","args":"` + "\u2028\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := accesslog.NewReader(bytes.NewReader(log), nil)
		if err != nil {
			return
		}
		entries := int64(0)
		for {
			e, err := r.Next()
			if err != nil {
				break
			}
			entries++
			badHost := strings.ContainsAny(e.Host, " /@?#\"\\") || e.Scheme != "" && e.Scheme != "http" && e.Scheme != "https"
			badPath := !strings.HasPrefix(e.Path, "/") || strings.ContainsFunc(e.Path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' })
			if badHost || badPath || e.Method == "" || e.Time.Year() < 1970 || e.Time.Year() > 2261 || e.Duration < 0 || e.Line < 1 {
				t.Fatalf("%+v", e)
			}
		}
		if !bytes.HasPrefix(log, []byte("\x1f\x8b")) {
			all, counts := requests(t, string(log), false)
			only, countsOfOnly := requests(t, string(log), true)
			same.As(t, "requests only", all, only)
			same.As(t, "counts of requests only", counts, countsOfOnly)
		}
		if c := r.Counts(); c.Parsed() != entries || len(c.Mistakes) > 3 || c.NotParsed > 0 && len(c.Mistakes) == 0 {
			t.Fatalf("%d entries, %+v", entries, c)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	for name, text := range map[string]string{
		"combined": line(start, "/api/items/12345?lang=en"),
		"Envoy":    `[2026-11-28T12:00:00.123Z] "GET /api/items/12345?lang=en HTTP/1.1" 200 - 0 12 4 3 "-" "agent" "id" "shop" "-"` + "\n",
		"JSON":     `{"start_time":"2026-11-28T12:00:00.000Z","method":"GET","path":"/api/items/12345","response_code":200,"duration":7,":authority":"shop"}` + "\n",
	} {
		b.Run(name, func(b *testing.B) {
			r, err := accesslog.NewReader(strings.NewReader(strings.Repeat(text, b.N)), nil)
			must.Succeed(b, err)
			r.RequestsOnly()
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

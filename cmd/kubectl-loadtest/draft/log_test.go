package draft_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/accesslog"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/draft"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func asItWas() *draft.Timing { return &draft.Timing{Speed: 1, Scale: 1} }

func options() draft.LogOptions {
	return draft.LogOptions{Methods: []string{"GET", "HEAD"}, Timing: asItWas()}
}

func TestFromLog(t *testing.T) {
	d, err := draft.FromLog(bytes.NewReader(read(t, "access.log")), options())
	must.Succeed(t, err)
	d.Service, d.Name = "shop:80", "log"
	lt, manifest := accepted(t, d, err)
	hides(t, manifest)
	account := strings.Join(d.Account, "\n") + "\n"
	hides(t, account)
	golden.Check(t, "testdata/access.yaml", manifest)
	golden.Check(t, "testdata/access.txt", account)
	for _, r := range lt.Spec.Requests {
		if r.HTTP.Method != "" && r.HTTP.Method != "GET" && r.HTTP.Method != "HEAD" {
			t.Errorf("%s is sent by %s", r.Name, r.HTTP.Method)
		}
	}
}

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func logged(after time.Duration, method, path string) string {
	return fmt.Sprintf("a - - [%s] \"%s %s HTTP/1.1\" 200 1\n", noon.Add(after).Format("02/Jan/2006:15:04:05 -0700"), method, path)
}

// due is how many requests the steps of a manifest send.
func due(t *testing.T, d *draft.Draft) (sum float64, length time.Duration) {
	t.Helper()
	d.Service = "shop"
	lt, _ := accepted(t, d, nil)
	for _, s := range lt.Spec.Steps {
		if s.Pause != nil {
			length += s.Pause.Duration
			continue
		}
		var from, to float64
		_, err := fmt.Sscan(s.Rate.String(), &from)
		must.Succeed(t, err)
		if to = from; s.RampTo != nil {
			_, err := fmt.Sscan(s.RampTo.String(), &to)
			must.Succeed(t, err)
		}
		length += s.Duration.Duration
		sum += (from + to) / 2 * s.Duration.Seconds()
	}
	return sum, length
}

func TestStepsOfALogHaveItsRequestsAndItsTime(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var log strings.Builder
	const requests = 20_000
	log.WriteString(logged(0, "GET", "/") + logged(3599*time.Second, "GET", "/"))
	for range requests - 2 {
		at := time.Duration(random.Float64()*random.Float64()*3599) * time.Second
		log.WriteString(logged(at, "GET", "/"))
	}
	for name, tt := range map[string]struct {
		timing draft.Timing
		due    float64
		length time.Duration
	}{
		"as it was":       {draft.Timing{Speed: 1, Scale: 1}, requests, time.Hour},
		"twice as fast":   {draft.Timing{Speed: 2, Scale: 1}, requests, time.Hour / 2},
		"a tenth of it":   {draft.Timing{Speed: 1, Scale: .1}, requests / 10, time.Hour},
		"an hour in 1m":   {draft.Timing{Speed: 60, Scale: 1. / 60}, requests / 60, time.Minute},
		"slow, and twice": {draft.Timing{Speed: .5, Scale: 2}, requests * 2, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			o.Timing = &tt.timing
			d, err := draft.FromLog(strings.NewReader(log.String()), o)
			must.Succeed(t, err)
			sum, length := due(t, d)
			if off := sum/tt.due - 1; off > .002 || off < -.002 || length != tt.length {
				t.Errorf("%.1f requests in %s, want %.1f in %s", sum, length, tt.due, tt.length)
			}
		})
	}
}

func TestPatternsOfALog(t *testing.T) {
	for name, tt := range map[string]struct {
		path, want string
	}{
		"number":         {"/items/12345?a=1", "GET /items/{number}"},
		"uuid":           {"/u/3fa85f64-5717-4562-b3fc-2c963f66afa6/x", "GET /u/{uuid}/x"},
		"hex":            {"/c/3f2a1b9c", "GET /c/{hex}"},
		"a word in hex":  {"/c/facade", "GET /c/facade"},
		"an asset":       {"/js/app.3f2a1b9c.js", "GET /js/app.{hex}.js"},
		"a date":         {"/on/2026-11-28", "GET /on/{date}"},
		"a version":      {"/v1/items", "GET /v1/items"},
		"a random token": {"/s/aB3dE6gH9jK2mN5pQ8sT", "GET /s/{text}"},
		"a long segment": {"/s/" + strings.Repeat("a", 65), "GET /s/{text}"},
		"a slash":        {"/a//b/", "GET /a//b/"},
		"deep":           {strings.Repeat("/a", 50), "GET " + strings.Repeat("/a", 12) + "/{rest}"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := draft.FromLog(strings.NewReader(logged(0, "GET", tt.path)), options())
			must.Succeed(t, err)
			if got := d.Requests[0].Name; got != tt.want || d.Requests[0].Path != tt.path {
				t.Errorf("%s is %s, want %s", d.Requests[0].Path, got, tt.want)
			}
		})
	}
}

// Segments that are very many become one, whatever the order, and those that are asked often
// stay what they are.
func TestSegmentsThatAreVeryManyBecomeOne(t *testing.T) {
	var log strings.Builder
	for i := range 3000 {
		slug := strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(i))
		log.WriteString(logged(0, "GET", "/blog/"+slug+"/comments"))
		if i%3 == 0 {
			log.WriteString(logged(0, "GET", "/blog/new/comments"))
		}
	}
	d, err := draft.FromLog(strings.NewReader(log.String()), options())
	must.Succeed(t, err)
	if len(d.Requests) != 2 || d.Requests[0].Name != "GET /blog/{text}/comments" || d.Requests[1].Name != "GET /blog/new/comments" {
		t.Errorf("%+v", d.Requests)
	}
}

// generated is a log that is made while it is read.
type generated struct {
	line func(i int) string
	left int
	rest string
}

func (g *generated) Read(p []byte) (int, error) {
	for g.rest == "" {
		if g.left == 0 {
			return 0, io.EOF
		}
		g.left--
		g.rest = g.line(g.left)
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// Neither paths, nor hosts, nor times that are all different take more and more memory, and
// what is asked often is found among them.
func TestAHostileLogTakesBoundedMemory(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	word := func() string {
		letters := make([]byte, 6)
		for i := range letters {
			letters[i] = byte('a' + random.Intn(26))
		}
		return string(letters)
	}
	const lines = 60_000
	line := func(i int) string {
		host, path := "shop", "/api/cart"
		if i%4 != 0 {
			path = "/" + word() + "/" + word() + "/" + word() + "?q=" + strings.Repeat("x", 200)
		}
		if i%16 == 1 {
			host = word()
		}
		at := noon.Add(-time.Duration(random.Intn(1<<30)) * time.Second).Format(time.RFC3339)
		return fmt.Sprintf("{\"time\":%q,\"method\":\"GET\",\"path\":%q,\"status\":200,\"host\":%q}\n", at, path, host)
	}
	o := options()
	o.Timing.Speed = 100_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	d, err := draft.FromLog(&generated{line: line, left: lines}, o)
	must.Succeed(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(d)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("a draft keeps %d bytes", grown)
	}
	_, manifest := accepted(t, d, nil)
	if !strings.Contains(manifest, "GET /api/cart") || !strings.Contains(manifest, "url: http://shop\n") || !strings.Contains(manifest, "for other hosts") {
		t.Errorf("the manifest is:\n%s", manifest)
	}
}

// Made-up hosts do not hide the host that most requests ask.
func TestTheHostIsFoundBehindOthers(t *testing.T) {
	var log strings.Builder
	line := func(host string) {
		fmt.Fprintf(&log, "{\"time\":%d,\"method\":\"GET\",\"path\":\"/\",\"host\":%q}\n", noon.Unix(), host)
	}
	for i := range 100 {
		line(fmt.Sprintf("made-up-%d", i))
		line(fmt.Sprintf("made-up-%d", i))
	}
	for i := range 40 {
		line("shop")
		line(fmt.Sprintf("made-up-too-%d", i))
	}
	d, err := draft.FromLog(strings.NewReader(log.String()), options())
	_, manifest := accepted(t, d, err)
	if d.Origin != "http://shop" || !strings.Contains(manifest, "Left out: 240 requests for other hosts") || !strings.Contains(manifest, "http is a guess") {
		t.Errorf("the target is %s:\n%s", d.Origin, manifest)
	}
}

func TestFromLogChooses(t *testing.T) {
	line := func(host, method string, after int) string {
		return fmt.Sprintf("{\"time\":%d,\"method\":%q,\"path\":\"/%s\",\"host\":%q}\n", noon.Unix()+int64(after), method, strings.ToLower(method), host)
	}
	log := line("a", "GET", 0) + line("b:8080", "GET", 5) + line("b:8080", "GET", 10) + line("b:8080", "POST", 10) + line("a", "BREW", 20)
	for name, tt := range map[string]struct {
		change func(*draft.LogOptions)
		want   []string
	}{
		"the host with the most": {func(*draft.LogOptions) {}, []string{"url: http://b:8080\n", "2 requests for other hosts", "1 request (POST 1)", "path: /get}"}},
		"a host":                 {func(o *draft.LogOptions) { o.Host = "A" }, []string{"url: http://a\n", "3 requests for other hosts", "1 request (other methods 1)"}},
		"methods":                {func(o *draft.LogOptions) { o.Methods = []string{"POST"} }, []string{"name: POST /post", "2 requests (GET 2)"}},
		"a window":               {func(o *draft.LogOptions) { o.Timing.To = noon.Add(5 * time.Second) }, []string{"url: http://a\n", "4 requests outside of --window"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			tt.change(&o)
			d, err := draft.FromLog(strings.NewReader(log), o)
			must.Succeed(t, err)
			_, manifest := accepted(t, d, nil)
			for _, want := range tt.want {
				if !strings.Contains(manifest, want) {
					t.Errorf("nothing says %q:\n%s", want, manifest)
				}
			}
		})
	}
}

func TestFromLogRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		log    string
		change func(*draft.LogOptions)
		want   string
	}{
		"an empty log":        {"", nil, "none of 0 lines is a request"},
		"no log":              {"a\nb\n", nil, "none of 2 lines is a request: line 1: the line has no known format"},
		"no host":             {logged(0, "GET", "/"), func(o *draft.LogOptions) { o.Host = "shop" }, "no request is for host shop; --log-host must be written as in the log"},
		"no window":           {logged(0, "GET", "/"), func(o *draft.LogOptions) { o.Timing.From = noon.Add(1) }, "no request is within --window"},
		"no method":           {logged(0, "PUT", "/"), nil, "no request has method GET or HEAD (PUT 1): --log-methods names others"},
		"a year":              {logged(0, "GET", "/") + logged(9000*time.Hour, "GET", "/"), nil, "to 2027-12-08T12:00:00Z (line 2): it would take 9000h0m1s, and a LoadTest takes at most 24h by default: choose a part with --window"},
		"half a second":       {logged(0, "GET", "/"), func(o *draft.LogOptions) { o.Timing.Speed = 2 }, "it would take 500ms, and a step takes a second at least"},
		"too few":             {logged(0, "GET", "/"), func(o *draft.LogOptions) { o.Timing.Scale = 0.1 }, "less than one request would be sent in 1s: raise --scale"},
		"too many":            {logged(0, "GET", "/"), func(o *draft.LogOptions) { o.Timing.Scale = 1e12 }, "the highest rate would be 1000000000000/s, and a step has at most 999999999/s"},
		"paths without end":   {logged(0, "GET", "/"+strings.Repeat("a", 3000)), nil, "no path has at most 2048 bytes"},
		"half of a gzip file": {"\x1f\x8b\x08", nil, "decompress: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			if tt.change != nil {
				tt.change(&o)
			}
			_, err := draft.FromLog(strings.NewReader(tt.log), o)
			must.Say(t, err, tt.want)
		})
	}
}

// Whatever the bytes of a path, the draft is valid, and its template is the path.
func FuzzFromLog(f *testing.F) {
	for _, path := range []string{"/a?b", "/${user}", "/$$", "/: #\\x00", "/'\\\"", "/a?token=abc&sig=", "/{number}/1", "/é\u2028", "/%zz", "//b", "/?" + strings.Repeat("key=1&", 300)} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		fields, err := accesslog.ParseFields("time=t,method=m,path=p")
		must.Succeed(t, err)
		line := fmt.Sprintf("{\"t\":1,\"m\":\"GET\",\"p\":%q}", path)
		o := options()
		o.Fields = fields
		d, err := draft.FromLog(strings.NewReader(line), o)
		if err != nil {
			return
		}
		d.Service = "shop"
		want := d.Requests[0].Path
		lt, manifest := accepted(t, d, nil)
		if got := strings.ReplaceAll(lt.Spec.Requests[0].HTTP.Path, "$$", "$"); got != d.Requests[0].Path || !strings.Contains(got, "LEFT-OUT") && got != want {
			t.Errorf("%q became %q:\n%s", want, got, manifest)
		}
	})
}

func BenchmarkFromLog(b *testing.B) {
	line := func(i int) string {
		return logged(time.Duration(i/100)*time.Second, "GET", fmt.Sprintf("/api/items/%d", i))
	}
	_, err := draft.FromLog(&generated{line: line, left: b.N + 1}, options())
	must.Succeed(b, err)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

package accesslog_test

import (
	"bytes"
	"encoding/json"
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

// harOf is an HTTP archive with entries.
func harOf(entries ...string) string {
	return `{"log": {"version": "1.2", "creator": {"name": "a browser"}, "pages": [{"id": "page"}], "entries": [` + strings.Join(entries, ", ") + `], "comment": "end"}}`
}

// harEntry is an entry with the text of a body.
func harEntry(after time.Duration, method, url, body string) string {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC).Add(after)
	return fmt.Sprintf(`{"_initiator": {"type": "script", "stack": [{"url": "https://other/"}]}, "startedDateTime": %q, "time": 41.5,
		"request": {"headers": [{"name": "url", "value": "/no"}], "method": %q, "url": %q, "postData": {"text": "}]\"\u00e9"}},
		"response": {"status": 200, "content": {"text": %q, "method": "no"}}, "timings": {"wait": -1}}`, at.Format("2006-01-02T15:04:05.000Z07:00"), method, url, body)
}

func TestEntriesOfHARAreLines(t *testing.T) {
	first := accesslog.Entry{Line: 1, Method: "GET", Scheme: "https", Host: "shop.example.com", Path: "/items?a=b%20c", Status: 200, Duration: 41500 * time.Microsecond}
	second := accesslog.Entry{Line: 2, Method: "POST", Scheme: "http", Host: "shop:8080", Path: "/orders", Status: 200, Duration: 41500 * time.Microsecond}
	entries := []string{harEntry(0, "GET", "https://shop.example.com/items?a=b c", "<a href='x'>}]"), harEntry(250*time.Millisecond, "POST", "http://shop:8080/orders#top", "")}
	for name, tt := range map[string]struct {
		har       string
		want      []accesslog.Entry
		notParsed int64
	}{
		"two":                        {harOf(entries...), []accesslog.Entry{first, second}, 0},
		"with a byte order mark":     {"\xef\xbb\xbf" + harOf(entries...), []accesslog.Entry{first, second}, 0},
		"indented":                   {indented(t, harOf(entries...)), []accesslog.Entry{first, second}, 0},
		"nothing but entries":        {`{"log":{"entries":[` + strings.Join(entries, ",") + `]}}`, []accesslog.Entry{first, second}, 0},
		"none":                       {harOf(), nil, 0},
		"something else first":       {harOf("null", "[1, {}]", entries[1]), []accesslog.Entry{{Line: 3, Method: second.Method, Scheme: second.Scheme, Host: second.Host, Path: second.Path, Status: 200, Duration: second.Duration}}, 2},
		"an address of data":         {harOf(harEntry(0, "GET", "data:text/plain,x", ""), entries[1]), nil, 1},
		"a method that is an object": {harOf(strings.Replace(entries[0], `"method": "GET"`, `"method": {"a": ["GET"]}`, 1), entries[1]), nil, 1},
		"a URL that is too long":     {harOf(harEntry(0, "GET", "http://shop/"+strings.Repeat("x", accesslog.MaxLine), ""), entries[1]), nil, 1},
		"a blocked request":          {harOf(strings.Replace(entries[0], `"status": 200`, `"status": 0`, 1), entries[1]), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			fields, err := accesslog.ParseFields("time=a,method=b,path=c")
			must.Succeed(t, err)
			list, counts := read(t, tt.har, fields) // which are of no meaning here
			if counts.NotParsed != tt.notParsed {
				t.Errorf("%d entries are not parsed, want %d: %+v", counts.NotParsed, tt.notParsed, counts.Mistakes)
			}
			for i := range list {
				list[i].Time = time.Time{}
			}
			if tt.want != nil || counts.Lines == 0 {
				same.As(t, "entries", tt.want, list)
			} else if got := list[len(list)-1]; got.Line != 2 || got.Path != "/orders" {
				t.Errorf("the last entry is %+v", got)
			}
		})
	}
}

func indented(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	must.Succeed(t, json.Indent(&b, []byte(text), "\r\n", "\t"))
	return b.String()
}

func TestTimesOfHARAreKept(t *testing.T) {
	list, _ := read(t, harOf(harEntry(0, "GET", "http://shop/", ""), harEntry(1250*time.Millisecond, "GET", "http://shop/", "")), nil)
	if len(list) != 2 || list[1].Time.Sub(list[0].Time) != 1250*time.Millisecond {
		t.Errorf("entries %+v", list)
	}
}

// Logs of containers and of programs have a field of that name, too, and are read line by line.
func TestLinesWithAFieldLogAreNoHAR(t *testing.T) {
	const request = `"start_time":"2026-11-28T12:00:00.000Z","method":"GET","path":"/a"}`
	for _, line := range []string{`{"log":"a text",` + request, `{"log":{"level":"info"},` + request} {
		list, counts := read(t, line+"\n"+line+"\n", nil)
		if len(list) != 2 || counts.Lines != 2 {
			t.Errorf("%s: %d entries of %+v", line, len(list), counts)
		}
	}
}

func TestAHARThatIsBrokenIsAnError(t *testing.T) {
	whole := harOf(harEntry(0, "GET", "http://shop/", "x"), harEntry(0, "GET", "http://shop/", "y"))
	for name, tt := range map[string]struct{ har, want string }{
		"cut within an entry":      {whole[:len(whole)-200], "the HAR file, behind entry 2: unexpected EOF"},
		"cut before the entries":   {`{"log": {"version": "1.2", "pages": [`, "the HAR file, behind entry 0: unexpected EOF"},
		"no entries":               {`{"log": {"version": "1.2"}}`, "the HAR file has no log.entries"},
		"entries that are no list": {`{"log": {"entries": {"a": 1}}}`, "the HAR file, behind entry 0: it is not JSON"},
		"a line end in a text":     {harOf("{\"startedDateTime\": \"a\nb\"}"), "the HAR file, behind entry 1: it is not JSON"},
		"a brace too many":         {harOf(`{"a": [1, }`), "the HAR file, behind entry 1: "},
		"no colon":                 {harOf(`{"a" 1}`), "the HAR file, behind entry 1: it is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := accesslog.NewReader(strings.NewReader(tt.har), nil)
			must.Succeed(t, err)
			for err == nil {
				_, err = r.Next()
			}
			if errors.Is(err, io.EOF) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q, want one with %q", err, tt.want)
			}
		})
	}
}

// Bodies are passed over as they are read, and so is what is nested deeply.
func TestAHARTakesNoMoreMemoryForItsBodies(t *testing.T) {
	const mib = 1 << 20
	r, err := accesslog.NewReader(io.MultiReader(
		strings.NewReader(`{"log":{"entries":[{"response":{"content":{"text":"`), &endless{"x<y", 64 * mib},
		strings.NewReader(`"}},"_deep":`), &endless{"[", 16 * mib}, &endless{"]", 16 * mib},
		strings.NewReader(`,"startedDateTime":"2026-11-28T12:00:00Z","request":{"method":"GET","url":"http://shop/a"}}]}}`)), nil)
	must.Succeed(t, err)
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	e, err := r.Next()
	runtime.ReadMemStats(&end)
	if err != nil || e.Path != "/a" {
		t.Errorf("entry %+v, error %v", e, err)
	}
	if grown := end.TotalAlloc - start.TotalAlloc; grown > mib {
		t.Errorf("it took %d bytes", grown)
	}
}

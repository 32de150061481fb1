package source

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// hostileTexts are values that would be other fields, or lines, if they were not encoded.
var hostileTexts = []string{"", `"plain\`, "a b+c", "a=b&c=d", "100%", "%41", "é ☃", "\r\n--x\r\n", "\x00\xff", "$ {}", "~-_."}

// sentForm is the rendered body of a form with the cells of a row, and its Content-Type.
func sentForm(t *testing.T, fields []FormField, cells ...string) (body []byte, media string) {
	t.Helper()
	table, err := NewTable("rows", []string{"a", "b"}, Uniform)
	must.Succeed(t, err)
	must.Succeed(t, table.Add(cells))
	s := mustNew(t, Config{Tables: []*Table{table}, Seed: 7, Requests: []Request{{
		Name: "login", Weight: 1, Method: "POST", Path: "/login", Form: fields,
		Headers: []Header{{Name: "content-type", Value: "application/json"}, {Name: "X-A", Value: "1"}},
	}}})
	var b Buffer
	s.Render(&b, 0, Vars{})
	for _, h := range b.Request.Headers {
		if h.Name == contentType {
			media += string(h.Value)
		}
	}
	if len(b.Request.Headers) != 2 {
		t.Errorf("headers %s, want X-A and one Content-Type", b.Request.Headers)
	}
	return b.Request.Body, media
}

func TestAFormIsPercentEncoded(t *testing.T) {
	for _, text := range hostileTexts {
		body, media := sentForm(t, []FormField{
			{Name: "user[name]", Value: "x=${a} & ${b}"}, {Name: "a b", Value: "$$${a}"}, {Name: "raw", Value: "${no} ", Literal: true}, {Name: "empty"}, {Name: "json", Value: `"${json:a}"`},
		}, text, "2")
		got, err := url.ParseQuery(string(body))
		must.Succeed(t, err)
		want := url.Values{"user[name]": {"x=" + text + " & 2"}, "a b": {"$" + text}, "raw": {"${no} "}, "empty": {""}, "json": {`"` + string(appendJSON(nil, []byte(text))) + `"`}}
		same.As(t, "fields", want, got)
		if media != "application/x-www-form-urlencoded" || !bytes.Equal(body, []byte("user%5Bname%5D="+url.QueryEscape("x="+text+" & 2")+"&a+b="+url.QueryEscape("$"+text)+"&raw=%24%7Bno%7D+&empty=&json="+url.QueryEscape(want.Get("json")))) {
			t.Errorf("%s: %q", media, body)
		}
	}
}

func TestAFormWithAFileIsMultipart(t *testing.T) {
	for _, text := range hostileTexts {
		content := text + "${no}\r\n" + text
		body, media := sentForm(t, []FormField{
			{Name: "csrf", Value: "${a}"}, {Name: "a\"\r\nb", Value: content, Literal: true, Filename: "é\".png", ContentType: "image/png"}, {Name: "f", Value: "${b}", Filename: "f"},
		}, text, "2")
		kind, parameters, err := mime.ParseMediaType(media)
		must.Succeed(t, err)
		reader := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
		var got []string
		for {
			p, err := reader.NextRawPart()
			if errors.Is(err, io.EOF) {
				break
			}
			must.Succeed(t, err)
			value, err := io.ReadAll(p)
			must.Succeed(t, err)
			got = append(got, p.FormName()+"|"+p.FileName()+"|"+p.Header.Get(contentType)+"|"+string(value))
		}
		want := []string{"csrf|||" + text, "a%22%0D%0Ab|é%22.png|image/png|" + content, "f|f|application/octet-stream|2"}
		same.As(t, kind+" parts", want, got)
	}
}

// The same seed sends the same requests; another seed, or other fields, have another boundary.
func TestTheBoundaryFollowsFromSeedAndFields(t *testing.T) {
	fields := []FormField{{Name: "a", Filename: "f", Value: "x"}}
	first := compiler{seed: 1}.boundary("r", fields)
	if again := (compiler{seed: 1}).boundary("r", fields); again != first || len(first) != 32 {
		t.Errorf("boundaries %s and %s", first, again)
	}
	for _, other := range []string{
		compiler{seed: 2}.boundary("r", fields), compiler{seed: 1}.boundary("q", fields), compiler{seed: 1}.boundary("r", append(fields, FormField{Name: "b"})),
	} {
		if other == first {
			t.Error("another form has the same boundary")
		}
	}
}

func TestFormsThatAreRefused(t *testing.T) {
	for want, form := range map[string]FormField{
		`form[0]: unknown variable ${tokn}`:                   {Name: "a", Value: "${tokn}"},
		`form[0]: its content type holds a control character`: {Name: "a", Filename: "f", ContentType: "a\r\nX: y"},
	} {
		_, err := New(Config{Requests: []Request{{Name: "r", Weight: 1, Method: "POST", Path: "/", Form: []FormField{form}}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// Encoding in place is what the library does.
func FuzzEncodeFrom(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add("before ", text)
	}
	f.Fuzz(func(t *testing.T, before, text string) {
		got := string(encodeFrom([]byte(before+text), len(before)))
		if got != before+url.QueryEscape(text) {
			t.Errorf("%q", got)
		}
	})
}

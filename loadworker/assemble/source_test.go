package assemble

import (
	"strings"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// render is the first request of an assignment as one of its workers sends it.
func render(t *testing.T, a *workerv1.Assignment, v source.Vars) *transport.Request {
	t.Helper()
	requests, err := newRequestSource(a, &services{target: a.GetTarget()}, 0)
	must.Succeed(t, err)
	var b source.Buffer
	requests.source.Render(&b, 0, v)
	return &b.Request
}

func TestSourceOfFiles(t *testing.T) {
	a := &workerv1.Assignment{
		Seed: 9, Worker: 1, Workers: 2,
		Data: []*workerv1.Data{
			{Name: "codes", File: file(t, "code\nx\ny\nz\n"), Format: workerv1.DataFormat_DATA_FORMAT_CSV},
			{Name: "people", File: file(t, "{\"name\":\"Ada\"}\n{\"name\":\"Carl\"}\n"), Format: workerv1.DataFormat_DATA_FORMAT_JSON_LINES, Choice: workerv1.DataChoice_DATA_CHOICE_SEQUENTIAL},
		},
		Requests: []*workerv1.Request{{
			Name: "n", Weight: 2, Method: "POST", Path: "/${code}", BodyFile: file(t, "{\"seq\":${seq},\n\"name\":\"${name}\"}\n"),
			Headers: []*workerv1.Header{
				{Name: "X-Plain", Value: "${user}"}, {Name: "Authorization", Value: "Bearer $", ValueFile: file(t, "${x}$\r\n")},
			},
		}},
	}
	want := &transport.Request{
		Method: "POST", Path: []byte("/y"), Body: []byte("{\"seq\":8,\n\"name\":\"Carl\"}\n"),
		Headers: []transport.Header{{Name: "X-Plain", Value: []byte("7")}, {Name: "Authorization", Value: []byte("Bearer $${x}$")}},
	}
	same.As(t, "request of worker 1", want, render(t, a, source.Vars{User: 7, Seq: 8}))
}

// The file of a form may have a dollar sign, as an image has.
func TestAFormHasTheContentOfAFile(t *testing.T) {
	a := &workerv1.Assignment{Requests: []*workerv1.Request{{
		Name: "n", Weight: 1, Method: "POST", Path: "/", BodyFile: file(t, "${x}$\n"),
		Form: []*workerv1.FormField{{Name: "u", Value: "${user}"}, {Name: "f", Filename: "a.png", ContentType: "image/png", FromFile: true}},
	}}}
	got := string(render(t, a, source.Vars{User: 7}).Body)
	if !strings.Contains(got, "name=\"u\"\r\n\r\n7\r\n--") || !strings.Contains(got, "name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n${x}$\n\r\n--") {
		t.Errorf("%q", got)
	}
}

// Rows are taken in turn by how many workers there are: of their arrivals, each has
// every third, and of those every second takes a row.
func TestSourceKnowsTheWorkers(t *testing.T) {
	a := &workerv1.Assignment{
		Worker: 1, Workers: 3,
		Data: []*workerv1.Data{{
			Name: "d", File: file(t, "row\n0\n1\n2\n3\n4\n5\n6\n7\n8\n"), Format: workerv1.DataFormat_DATA_FORMAT_CSV, Choice: workerv1.DataChoice_DATA_CHOICE_SEQUENTIAL,
		}},
		Requests: []*workerv1.Request{{Name: "a", Weight: 1, Method: "GET", Path: "/${row}"}, {Name: "b", Weight: 1, Method: "GET", Path: "/"}},
	}
	for n, want := range map[int64]string{0: "/1", 2: "/4", 4: "/7", 6: "/1"} {
		got := render(t, a, source.Vars{Order: source.Order{By: 3, N: n, Streams: 1}})
		if string(got.Path) != want {
			t.Errorf("request %d is %s, want %s", n, got.Path, want)
		}
	}
}

// A file may be as large as its bound.
func TestSourceTakesALargeHeader(t *testing.T) {
	a := workertest.Assignment("http://x")
	value := strings.Repeat("x", maxHeaderFile)
	a.Requests[0].Headers = []*workerv1.Header{{Name: "X", ValueFile: file(t, value)}}
	if got := render(t, a, source.Vars{}).Headers[0].Value; string(got) != value {
		t.Errorf("a header of %d bytes, want %d", len(got), len(value))
	}
}

func TestSourceRefuses(t *testing.T) {
	const secret = "top\x00secret"
	tests := map[string]struct {
		change func(*workerv1.Assignment)
		want   string
	}{
		"a body that is not there": {
			func(a *workerv1.Assignment) { a.Requests[0].BodyFile = "/does/not/exist" },
			`request "read": body: open /does/not/exist: no such file`,
		},
		"a body that is too large": {
			func(a *workerv1.Assignment) { a.Requests[0].BodyFile = file(t, strings.Repeat("x", maxBodyFile+1)) },
			`request "read": body: `,
		},
		"a body with a variable that is none": {
			func(a *workerv1.Assignment) { a.Requests[0].BodyFile = file(t, "pass=${secret}") },
			`request "read": body: the $ at 5 does not begin any of ${user}, `,
		},
		"a body with a brace that does not close": {
			func(a *workerv1.Assignment) { a.Requests[0].BodyFile = file(t, "${secret") },
			`request "read": body: the $ at 0 does not begin any of `,
		},
		"a body with a range that is none": {
			func(a *workerv1.Assignment) { a.Requests[0].BodyFile = file(t, "${rand:secret}") },
			`request "read": body: the $ at 0 does not begin any of `,
		},
		"a header that is not there": {
			func(a *workerv1.Assignment) {
				a.Requests[0].Headers = []*workerv1.Header{{Name: "X", ValueFile: "/does/not/exist"}}
			},
			`request "read": header "X": open /does/not/exist: no such file`,
		},
		"a header that is too large": {
			func(a *workerv1.Assignment) {
				a.Requests[0].Headers = []*workerv1.Header{{Name: "X", ValueFile: file(t, strings.Repeat("x", maxHeaderFile+1))}}
			},
			"is larger than 65536 bytes",
		},
		"a header with a control character": {
			func(a *workerv1.Assignment) {
				a.Requests[0].Headers = []*workerv1.Header{{Name: "X", ValueFile: file(t, secret)}}
			},
			`request "read": header "X": its value holds a control character`,
		},
		"data that is not there": {
			func(a *workerv1.Assignment) { a.Data = []*workerv1.Data{{Name: "d", File: "/does/not/exist"}} },
			`data "d": open /does/not/exist: no such file`,
		},
		"a captured column that is data": {
			func(a *workerv1.Assignment) {
				a.Data = []*workerv1.Data{{Name: "d", File: file(t, "code\n1\n")}}
				a.Setup = &workerv1.Setup{Fill: &workerv1.Fill{Capture: map[string]string{"code": ".code"}}}
			},
			`setup.fill.capture: column "code" has the same name as a column of data "d", file `,
		},
		"a captured column that is a variable": {
			func(a *workerv1.Assignment) {
				a.Setup = &workerv1.Setup{Fill: &workerv1.Fill{Capture: map[string]string{"seq": ".code"}}}
			},
			`setup.fill.capture: column 1 has the name of a variable, seq`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := workertest.Assignment("http://x")
			tt.change(a)
			_, err := newRequestSource(a, &services{target: a.GetTarget()}, 0)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("newRequestSource = %v, want …%s…", err, tt.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error has the text of the file: %v", err)
			}
		})
	}
}

// A template may name what setup.fill will capture, before it is there.
func TestCapturedColumnsAreKnown(t *testing.T) {
	a := workertest.Assignment("http://x")
	a.Requests[0].Path = "/${code}"
	a.Setup = &workerv1.Setup{Fill: &workerv1.Fill{Capture: map[string]string{"code": ".code", "id": ".id"}}}
	requests, err := newRequestSource(a, &services{target: a.GetTarget()}, 0)
	must.Succeed(t, err)
	must.Succeed(t, requests.captured.Add([]string{"abc", "1"}))
	var b source.Buffer
	requests.source.Render(&b, 0, source.Vars{})
	if got := string(b.Request.Path); got != "/abc" {
		t.Errorf("path %s, want /abc", got)
	}
}

// The rows of a large file count against the worker's memory: its own part of them, for the target
// and for the control, which each have a table.
func TestRowsOfLargeFilesTakeMemory(t *testing.T) {
	rows := file(t, strings.Repeat("x", 4<<20))
	a := &workerv1.Assignment{Workers: 2, Target: &workerv1.Target{Url: "http://a"}, Data: []*workerv1.Data{{Name: "rows", File: rows}}}
	if got := memoryNeed(a).base - memoryNeed(&workerv1.Assignment{Workers: 2, Target: a.GetTarget()}).base; got != 4<<20 {
		t.Errorf("a half of 4 MiB takes %d bytes, want twice its size", got)
	}
	a.Control = &workerv1.Control{Target: &workerv1.Target{Url: "http://b"}}
	if got := memoryNeed(a).base - memoryNeed(&workerv1.Assignment{Workers: 2, Target: a.GetTarget(), Control: a.GetControl()}).base; got != 8<<20 {
		t.Errorf("with a control, it takes %d bytes, want twice as many", got)
	}
	a.Control, a.Data[0].File = nil, file(t, strings.Repeat("x", smallTable))
	if got := memoryNeed(a).base - memoryNeed(&workerv1.Assignment{Workers: 2, Target: a.GetTarget()}).base; got != 0 {
		t.Errorf("what a ConfigMap may have takes %d bytes", got)
	}
}

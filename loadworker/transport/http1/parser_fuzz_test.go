package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParse compares with net/http, which is less strict: a response here is the same
// response there. The pieces in which the bytes arrive make no difference.
func FuzzParse(f *testing.F) {
	for _, tt := range parses {
		f.Add([]byte(tt.text), tt.head, 10)
	}
	f.Fuzz(func(t *testing.T, text []byte, head bool, cut int) {
		got := feed([]string{string(text)}, head)
		cut = max(0, min(cut, len(text)))
		if diff := cmp.Diff(got, feed([]string{string(text[:cut]), string(text[cut:])}, head)); diff != "" {
			t.Errorf("in two pieces, %d and %d bytes (-one +two):\n%s", cut, len(text)-cut, diff)
		}
		if got.Err != "" {
			return
		}
		want, err := reference(text, head)
		if err != nil {
			t.Fatalf("net/http: %v; here %+v", err, got)
		}
		if !got.Reusable {
			want.Reusable = false // the parser closes in doubt
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-net/http +here):\n%s", diff)
		}
	})
}

// reference is the result of net/http. The bytes that it leaves are those in its
// buffer, which holds them all here.
func reference(text []byte, head bool) (outcome, error) {
	r := bufio.NewReaderSize(bytes.NewReader(text), len(text)+1)
	method := http.MethodGet
	if head {
		method = http.MethodHead
	}
	resp, err := http.ReadResponse(r, &http.Request{Method: method})
	for err == nil && resp.StatusCode < 200 && resp.StatusCode != 101 {
		resp, err = http.ReadResponse(r, &http.Request{Method: method})
	}
	if err != nil {
		return outcome{}, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return outcome{}, err
	}
	rest, _ := io.ReadAll(r)
	return outcome{
		Status: resp.StatusCode, Body: string(body), Rest: string(rest),
		Reusable: !resp.Close && resp.StatusCode >= 200,
	}, nil
}

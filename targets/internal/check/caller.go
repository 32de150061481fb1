package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
)

const (
	// maxBody bounds the body of an answer: each is a single object here.
	maxBody = 1 << 20
	// shown bounds the part of a wrong answer's body in the error.
	shown = 200
)

// caller makes the calls of one check, and reports them.
type caller struct {
	base   string
	key    string
	client *http.Client
	out    io.Writer
}

// call is one request, and the answers that it may get.
type call struct {
	// method is GET where it is empty.
	method, path string
	// body is sent as JSON; nil sends none.
	body    any
	headers map[string]string
	// want are the statuses that are right; none: 200 alone.
	want []int
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// call returns an answer with one of the wanted statuses, and any other as an
// error that says what came instead.
func (c caller) call(ctx context.Context, x call) (answer, error) {
	if x.method == "" {
		x.method = http.MethodGet
	}
	if len(x.want) == 0 {
		x.want = []int{http.StatusOK}
	}
	request, err := c.request(ctx, x)
	if err != nil {
		return answer{}, err
	}
	got, err := c.send(request)
	if err != nil {
		return answer{}, err
	}
	fmt.Fprintf(c.out, "%s %s: %d\n", x.method, x.path, got.status)
	if !slices.Contains(x.want, got.status) {
		return answer{}, fmt.Errorf("%s %s: status %d, want one of %v: %s",
			x.method, x.path, got.status, x.want, bytes.TrimSpace(got.body[:min(len(got.body), shown)]))
	}
	return got, nil
}

func (c caller) request(ctx context.Context, x call) (*http.Request, error) {
	var body io.Reader
	if x.body != nil {
		encoded, err := json.Marshal(x.body)
		if err != nil {
			return nil, fmt.Errorf("encode the body of %s: %w", x.path, err)
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, x.method, c.base+x.path, body)
	if err != nil {
		return nil, err
	}
	if x.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		request.Header.Set("X-API-Key", c.key)
	}
	for name, value := range x.headers {
		request.Header.Set(name, value)
	}
	return request, nil
}

func (c caller) send(request *http.Request) (answer, error) {
	response, err := c.client.Do(request)
	if err != nil {
		return answer{}, err // it names the method and the URL
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: read the answer: %w", request.Method, request.URL.Path, err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: body}, nil
}

// decode reads the body as JSON.
func (a answer) decode(into any) error {
	if err := json.Unmarshal(a.body, into); err != nil {
		return fmt.Errorf("the answer %q is not the JSON that was expected: %w", a.body[:min(len(a.body), shown)], err)
	}
	return nil
}

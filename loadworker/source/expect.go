package source

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Expectation describes the responses that are expected.
type Expectation struct {
	// Status lists the expected status codes. Empty: 200 to 399.
	Status []int32
	// JSON lists values that the body must have.
	JSON []ExpectedValue
	// MaxBytes bounds the size of the body. 0: no bound.
	MaxBytes int64
}

// ExpectedValue is a value of a JSON body.
type ExpectedValue struct {
	// Path is as in ParseJSONPath; Equals is the value as text.
	Path, Equals string
}

// maxBody bounds the part of a body that is searched for values: more of the bodies
// of 10,000 users would not fit into a worker.
const maxBody = 1 << 20

// expectation is a compiled Expectation.
type expectation struct {
	status   []int32
	values   []expectedValue
	maxBytes int64
}

type expectedValue struct {
	path   JSONPath
	equals string
}

func (e Expectation) compile() (expectation, error) {
	out := expectation{status: e.Status, maxBytes: e.MaxBytes}
	for i, v := range e.JSON {
		path, err := ParseJSONPath(v.Path)
		if err != nil {
			return out, fmt.Errorf("expect.json[%d].path: %w", i, err)
		}
		out.values = append(out.values, expectedValue{path: path, equals: v.Equals})
	}
	return out, nil
}

// keep returns how much of a body must be kept to check it.
func (e *expectation) keep() int {
	if len(e.values) == 0 {
		return 0
	}
	return maxBody
}

// Expected reports whether a status is expected.
func (s *Source) Expected(request, status int) bool {
	codes := s.requests[request].expect.status
	if len(codes) == 0 {
		return status >= 200 && status <= 399
	}
	return slices.Contains(codes, int32(status))
}

// CheckStatus returns an error for a status that is not expected.
func (s *Source) CheckStatus(request, status int) error {
	if s.Expected(request, status) {
		return nil
	}
	return fmt.Errorf("status %d %s is not expected, but %s", status, http.StatusText(status), s.requests[request].expect.statuses())
}

// statuses describes the expected statuses.
func (e *expectation) statuses() string {
	if len(e.status) == 0 {
		return "200 to 399"
	}
	texts := make([]string, len(e.status))
	for i, code := range e.status {
		texts[i] = strconv.Itoa(int(code))
	}
	return strings.Join(texts, " or ")
}

// CheckBody returns an error for a body that is not expected in a response whose
// status is. It accepts any body of a 429, which is the rate limiter's.
func (s *Source) CheckBody(request int, r *transport.Response) error {
	if r.Status == http.StatusTooManyRequests {
		return nil
	}
	return s.requests[request].expect.checkBody(r)
}

// Check returns an error for a response that is not expected, whatever its status.
// It is for responses that the run depends on and does not count.
func (s *Source) Check(request int, r *transport.Response) error {
	if err := s.CheckStatus(request, r.Status); err != nil {
		return err
	}
	return s.requests[request].expect.checkBody(r)
}

func (e *expectation) checkBody(r *transport.Response) error {
	if e.maxBytes > 0 && r.Size > e.maxBytes {
		return fmt.Errorf("body of %d bytes, at most %d are expected", r.Size, e.maxBytes)
	}
	if len(e.values) == 0 {
		return nil
	}
	if err := checkWhole(r); err != nil {
		return err
	}
	document, ok := parseJSON(r.Body)
	if !ok {
		return notJSON(r.Body)
	}
	for _, v := range e.values {
		value, ok := v.path.find(document)
		if !ok {
			return failure.Withhold(r.Body, "%s: the body of %d bytes has none, %q is expected", v.path, len(r.Body), text.Truncate(v.equals, 60))
		}
		if got := textOf(value); got != v.equals {
			return failure.Withhold(got, "%s: %s instead of %q", v.path, kindOf(value), text.Truncate(v.equals, 60))
		}
	}
	return nil
}

// checkWhole refuses a body that was not kept whole.
func checkWhole(r *transport.Response) error {
	switch {
	case r.NoRoom:
		return fmt.Errorf("body of %d bytes, for which the worker had no memory left beside those of other users; have more workers, or smaller bodies", r.Size)
	case r.Size > int64(len(r.Body)):
		return fmt.Errorf("body of %d bytes, of which only %d are looked at", r.Size, len(r.Body))
	}
	return nil
}

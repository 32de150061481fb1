package source

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Expectation describes the responses that are expected.
type Expectation struct {
	// Status lists the expected status codes. Empty: 200 to 299.
	Status []int32
	// JSON lists values that the body must have.
	JSON []ExpectedValue
	// MaxBytes bounds the size of the body. 0: no bound.
	MaxBytes int64
	// MinReplies and MaxReplies bound how many replies a call has. 0: no bound.
	MinReplies, MaxReplies int64
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
	status                           []int32
	values                           []expectedValue
	maxBytes, minReplies, maxReplies int64
}

type expectedValue struct {
	path   JSONPath
	equals string
}

func (e Expectation) compile() (expectation, error) {
	out := expectation{status: e.Status, maxBytes: e.MaxBytes, minReplies: e.MinReplies, maxReplies: e.MaxReplies}
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
	r := &s.requests[request]
	codes := r.expect.status
	switch {
	case len(codes) == 0 && r.call != nil:
		return status == measure.GRPCOK
	case len(codes) == 0 && r.socket != nil:
		return status == http.StatusSwitchingProtocols
	case len(codes) == 0:
		return status >= 200 && status <= 299
	}
	return slices.Contains(codes, int32(status))
}

// CheckStatus returns an error for a status that is not expected.
func (s *Source) CheckStatus(request, status int) error {
	if s.Expected(request, status) {
		return nil
	}
	err := fmt.Errorf("status %s instead of %s", StatusText(status), s.requests[request].statuses())
	if measure.IsRedirect(status) {
		return fmt.Errorf("%w; a redirect is not followed: add that status to expect.status, or send to the address that it names", err)
	}
	return err
}

// StatusText is a status code with its name, of HTTP or of gRPC.
func StatusText(status int) string {
	if measure.IsGRPC(status) {
		return fmt.Sprintf("%d %s", status, measure.StatusName(status))
	}
	return fmt.Sprintf("%d %s", status, http.StatusText(status))
}

// statuses describes the expected statuses.
func (r *request) statuses() string {
	switch {
	case len(r.expect.status) == 0 && r.call != nil:
		return measure.StatusName(measure.GRPCOK)
	case len(r.expect.status) == 0 && r.socket != nil:
		return "101"
	case len(r.expect.status) == 0:
		return "200 to 299"
	}
	texts := make([]string, len(r.expect.status))
	for i, code := range r.expect.status {
		texts[i] = measure.StatusName(int(code))
	}
	return strings.Join(texts, " or ")
}

// CheckBody returns an error for a body that is not expected in a response whose
// status is. It accepts any body of a 429, which is the rate limiter's; the replies to a call
// are looked at with status OK only.
func (s *Source) CheckBody(request int, r *transport.Response) error {
	q := &s.requests[request]
	if measure.IsRateLimited(r.Status) || q.call != nil && r.Status != measure.GRPCOK {
		return nil
	}
	return q.checkBody(r)
}

// Check returns an error for a response that is not expected, whatever its status.
// It is for responses that the run depends on and does not count.
func (s *Source) Check(request int, r *transport.Response) error {
	if err := s.CheckStatus(request, r.Status); err != nil {
		return err
	}
	return s.requests[request].checkBody(r)
}

// Document is the JSON of a response: its body, or the last reply to a call.
func (s *Source) Document(request int, r *transport.Response) (Document, error) {
	return s.requests[request].document(r)
}

func (r *request) document(answer *transport.Response) (d Document, err error) {
	switch {
	case r.call == nil:
		return bodyOf(answer), nil
	case answer.Status != measure.GRPCOK:
		return d, fmt.Errorf("status %s has no reply", StatusText(answer.Status))
	}
	if err := r.checkWhole(answer); err != nil {
		return d, err
	}
	return r.call.repliesOf(answer.Body).last()
}

func (r *request) checkBody(answer *transport.Response) error {
	e := &r.expect
	if e.maxBytes > 0 && answer.Size > e.maxBytes {
		return fmt.Errorf("%s of %d bytes, at most %d are expected", r.content(), answer.Size, e.maxBytes)
	}
	if err := e.checkReplies(answer.Replies); err != nil || len(e.values) == 0 {
		return err
	}
	if err := r.checkWhole(answer); err != nil {
		return err
	}
	if r.call != nil {
		return r.call.repliesOf(answer.Body).each(e.checkValues)
	}
	return e.checkValues(bodyOf(answer))
}

// checkReplies refuses a number of replies that is not expected.
func (e *expectation) checkReplies(n int64) error {
	switch {
	case n < e.minReplies:
		return fmt.Errorf("the call ends after %d replies, at least %d are expected", n, e.minReplies)
	case e.maxReplies > 0 && n > e.maxReplies:
		return fmt.Errorf("%d replies, at most %d are expected", n, e.maxReplies)
	}
	return nil
}

// checkValues refuses a document that lacks an expected value.
func (e *expectation) checkValues(d Document) error {
	document, ok := parseJSON(d.JSON)
	if !ok {
		return d.notJSON()
	}
	for _, v := range e.values {
		value, ok := v.path.find(document)
		if !ok {
			return failure.Withhold(d.JSON, "%s: the %s of %d bytes has none; %q is expected", v.path, d.name, len(d.JSON), text.Truncate(v.equals, 60))
		}
		if got := textOf(value); got != v.equals {
			return failure.Withhold(got, "%s: %s instead of %q", v.path, kindOf(value), text.Truncate(v.equals, 60))
		}
	}
	return nil
}

// content is what messages call all that a response has beside its header.
func (r *request) content() string {
	if r.call != nil {
		return "replies"
	}
	return "body"
}

// checkWhole refuses a body, or replies, that were not kept whole.
func (r *request) checkWhole(answer *transport.Response) error {
	size := grpc.KeptSize(answer.Size, answer.Replies)
	switch {
	case answer.NoRoom:
		return fmt.Errorf("%s of %d bytes, for which the worker had no memory left; use more workers, or smaller responses", r.content(), answer.Size)
	case size > int64(len(answer.Body)):
		return fmt.Errorf("%s of %d bytes, of which the worker reads only %d", r.content(), size, len(answer.Body))
	}
	return nil
}

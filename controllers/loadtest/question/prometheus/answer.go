package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// maxAnswer bounds what is read of an answer, in bytes: one number needs less than a thousandth.
	maxAnswer = 256 << 10
	// maxLogged bounds what the log has of an answer.
	maxLogged = 512
)

// answer asks one question. It runs beside the passes, whose panics are caught: one of its own leaves the
// question without an answer, and does not end the operator.
func (s session) answer(ctx context.Context, q question.Question, at time.Time) (result v1beta1.QueryResult) {
	defer func() {
		if cause := recover(); cause != nil {
			result = unanswered(ctx, q, fmt.Errorf("%v\n%s", cause, debug.Stack()))
		}
	}()
	if q.Problem != "" {
		return q.Unanswered(q.Problem)
	}
	raw, err := s.post(ctx, url.Values{
		"query": {q.Expression}, "time": {strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)},
	})
	if err != nil {
		return unanswered(ctx, q, err)
	}
	value, err := numberOf(raw)
	if err != nil {
		return unanswered(ctx, q, err)
	}
	return q.Answered(value)
}

// post sends the question, and returns the body of the answer.
func (s session) post(ctx context.Context, form url.Values) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/v1/query", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was read as far as it is wanted
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch code := answer.StatusCode; {
	case err != nil:
		return nil, err
	case len(raw) > maxAnswer:
		return nil, sink.Problem(fmt.Sprintf("the answer has more than %d bytes; the expression must have one value, as by max or sum", maxAnswer))
	case code == http.StatusBadRequest || code == http.StatusUnprocessableEntity:
		logr.FromContextOrDiscard(ctx).Info("Prometheus cannot evaluate an expression", "answer", text.Clean(string(raw), maxLogged))
		return nil, sink.Problem(fmt.Sprintf("the expression cannot be evaluated (status %d); the operator's log has the answer", code))
	case code != http.StatusOK:
		return nil, sink.Problem(fmt.Sprintf("the server answered %d", code))
	}
	return raw, nil
}

const (
	foreign = sink.Problem("the answer is not one of its API")
	noValue = sink.Problem("it has no value of the time of the step")
)

// numberOf is the number that an answer has, in at most 32 characters.
func numberOf(raw []byte) (string, error) {
	var answer struct {
		Status string
		Data   struct {
			ResultType string
			Result     json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &answer); err != nil || answer.Status != "success" {
		return "", foreign
	}
	var one sample
	var err error
	switch answer.Data.ResultType {
	case "scalar":
		err = json.Unmarshal(answer.Data.Result, &one)
	case "vector":
		one, err = onlyOne(answer.Data.Result)
	default:
		err = sink.Problem("the answer is not a number; the expression must have one value, not one for each instant")
	}
	if err != nil {
		return "", asProblem(err)
	}
	return one.number()
}

// onlyOne is the value of the one series of a vector.
func onlyOne(raw json.RawMessage) (sample, error) {
	var list []struct{ Value *sample }
	if err := json.Unmarshal(raw, &list); err != nil {
		return sample{}, err
	}
	switch {
	case len(list) == 0:
		return sample{}, noValue
	case len(list) > 1:
		return sample{}, sink.Problem(fmt.Sprintf("the answer has %d values; the expression must have one, as by max or sum", len(list)))
	case list[0].Value == nil:
		return sample{}, sink.Problem("the answer is a histogram; the expression must have a number")
	}
	return *list[0].Value, nil
}

// asProblem is an error in a sentence of the status: what cannot be read is no answer of the API.
func asProblem(err error) error {
	var told sink.Problem
	if errors.As(err, &told) {
		return told
	}
	return foreign
}

// sample is an instant and a value.
type sample [2]any

// number is the value to six digits behind the point.
func (s sample) number() (string, error) {
	written, _ := s[1].(string)
	number, err := strconv.ParseFloat(written, 64)
	switch {
	case math.IsNaN(number):
		return "", sink.Problem("the answer is not a number (NaN)")
	case math.Abs(number) >= 1e15:
		return "", sink.Problem("the answer is too large a number")
	case err != nil:
		return "", foreign
	}
	decimal := strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(number, 'f', 6, 64), "0"), ".")
	if decimal == "-0" {
		return "0", nil
	}
	return decimal, nil
}

package source

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Tokens are where the last event of a stream, but for that of Until, says how many tokens it had. The zero value
// is nowhere.
type Tokens struct {
	// Input and Output are paths of numbers, as in ParseJSONPath; empty: it does not say.
	Input, Output string
}

// tokens are compiled Tokens; a path without steps is none.
type tokens struct{ input, output JSONPath }

// maxTokensData bounds the event that says how many tokens there were: that of OpenAI's API has some 300 bytes.
const maxTokensData = 4 << 10

func (t Tokens) compile(s *transport.Stream) (out tokens, err error) {
	if t == (Tokens{}) {
		return out, nil
	}
	if s == nil {
		return out, errors.New("tokens: only a stream has them")
	}
	for _, p := range []struct {
		name, text string
		to         *JSONPath
	}{{"input", t.Input, &out.input}, {"output", t.Output, &out.output}} {
		if p.text == "" {
			continue
		}
		if *p.to, err = ParseJSONPath(p.text); err != nil {
			return out, fmt.Errorf("tokens.%s: %w", p.name, err)
		}
	}
	s.Keep = maxTokensData
	return out, nil
}

// Tokens are how many tokens a stream had; ok is false if it does not say so.
func (s *Source) Tokens(request int, r *transport.Response) (input, output int64, ok bool) {
	t := &s.requests[request].tokens
	if len(t.input.steps)+len(t.output.steps) == 0 {
		return 0, 0, false
	}
	document, ok := parseJSON(r.EventData)
	if !ok {
		return 0, 0, false
	}
	number := func(p *JSONPath) int64 {
		if len(p.steps) == 0 {
			return 0
		}
		value, found := p.find(document)
		n, err := strconv.ParseInt(value.Raw, 10, 64)
		if !found || err != nil || n < 0 || n > measure.MaxTokens {
			ok = false
			return 0
		}
		return n
	}
	input, output = number(&t.input), number(&t.output)
	return input, output, ok
}

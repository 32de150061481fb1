package http

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
)

const (
	// maxBody is room for the longest context that is usual, and no more.
	maxBody = 1 << 20
	// maxModel bounds the name that is repeated in each event.
	maxModel = 256
	// defaultTokens is how many tokens an answer has if the request does not say.
	defaultTokens = 64
	// ownModel is the name of the model if the request names none.
	ownModel = "stand-in"
)

// asked is what a request asks for.
type asked struct {
	kind   kind
	model  string
	prompt int // tokens
	tokens int
	stream bool
	usage  bool // with the stream
}

// document is a request of either kind, as far as it is read.
type document struct {
	Model    string          `json:"model"`
	Messages []message       `json:"messages"`
	Prompt   json.RawMessage `json:"prompt"`
	// MaxCompletionTokens is what OpenAI now calls MaxTokens.
	MaxTokens           *int64 `json:"max_tokens"`
	MaxCompletionTokens *int64 `json:"max_completion_tokens"`
	N                   *int64 `json:"n"`
	Stream              bool   `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// message is one of a chat.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// part is one of a content in parts.
type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// read reads a request, whose body and context are bounded.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, k kind) (asked, *problem) {
	counted := &body{Reader: http.MaxBytesReader(w, r.Body, maxBody), all: &h.bodies}
	defer counted.release()
	text, err := io.ReadAll(counted)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, errNoMemory):
		return asked{}, busy()
	case errors.As(err, &tooLarge):
		return asked{}, invalid("", "The body has more than %d bytes.", maxBody).as(http.StatusRequestEntityTooLarge, "request_too_large")
	case err != nil:
		return asked{}, invalid("", "The body cannot be read.")
	}
	var d document
	if p := decode(text, &d); p != nil {
		return asked{}, p
	}
	return d.asks(k, h.Service.Parameters().Context)
}

func decode(text []byte, d *document) *problem {
	var mistyped *json.UnmarshalTypeError
	switch err := json.Unmarshal(text, d); {
	case errors.As(err, &mistyped):
		what, _, _ := strings.Cut(mistyped.Value, " ") // of a number that is too large, without its digits
		return invalid(mistyped.Field, "Invalid value for '%s': this %s is not expected there.", cmp.Or(mistyped.Field, "the body"), what)
	case err != nil:
		return invalid("", "The body is no JSON document: %v.", err)
	}
	return nil
}

// asks is what a document asks for.
func (d *document) asks(k kind, context int) (a asked, p *problem) {
	a = asked{kind: k, model: cmp.Or(d.Model, ownModel), stream: d.Stream, usage: d.StreamOptions != nil && d.StreamOptions.IncludeUsage}
	switch {
	case len(d.Model) > maxModel:
		return a, invalid("model", "'model' has %d bytes: use %d or fewer.", len(d.Model), maxModel)
	case d.N != nil && *d.N != 1:
		return a, invalid("n", "'n' is %d: this server gives 1 answer to a request.", *d.N)
	case d.StreamOptions != nil && !d.Stream:
		return a, invalid("stream_options", "'stream_options' is only allowed when 'stream' is true.")
	}
	if a.prompt, p = d.promptTokens(k); p != nil {
		return a, p
	}
	a.tokens, p = d.answerTokens(a.prompt, context)
	return a, p
}

// promptTokens counts those of the prompt, or of all messages.
func (d *document) promptTokens(k kind) (n int, p *problem) {
	if k == completion {
		if len(d.Prompt) == 0 {
			return 0, invalid("prompt", "Missing required parameter: 'prompt'.")
		}
		var text string
		if json.Unmarshal(d.Prompt, &text) != nil {
			return 0, invalid("prompt", "'prompt' must be a string.")
		}
		return tokens.Count(text), nil
	}
	if len(d.Messages) == 0 {
		return 0, invalid("messages", "'messages' must have at least one message.")
	}
	for i, m := range d.Messages {
		size, p := m.tokens(i)
		if p != nil {
			return 0, p
		}
		n += size
	}
	return n, nil
}

// tokens counts those of a message, whose content is a text, or parts, or null.
func (m *message) tokens(i int) (n int, p *problem) {
	if m.Role == "" {
		return 0, invalid(fmt.Sprintf("messages[%d].role", i), "Missing required parameter: 'messages[%d].role'.", i)
	}
	var text string
	if len(m.Content) == 0 || json.Unmarshal(m.Content, &text) == nil {
		return tokens.Count(text), nil
	}
	param := fmt.Sprintf("messages[%d].content", i)
	var parts []part
	if json.Unmarshal(m.Content, &parts) != nil {
		return 0, invalid(param, "'%s' must be a string or a list of parts.", param)
	}
	for _, each := range parts {
		if each.Type != "text" {
			return 0, invalid(param, "'%s' has a part of another type than text, which this server does not take.", param)
		}
		n += tokens.Count(each.Text)
	}
	return n, nil
}

// answerTokens is how many tokens are asked for.
func (d *document) answerTokens(prompt, context int) (int, *problem) {
	param, value := "max_tokens", d.MaxTokens
	if d.MaxCompletionTokens != nil {
		param, value = "max_completion_tokens", d.MaxCompletionTokens
	}
	n := int64(min(defaultTokens, context-prompt))
	if value != nil {
		n = *value
		if n < 1 {
			return 0, invalid(param, "'%s' is %d: use 1 or more.", param, n)
		}
	}
	if n < 1 || n > int64(context-prompt) {
		return 0, invalid(d.tooLong(), "This model's maximum context length is %d tokens. The prompt has %d tokens and the request asks for %d more. Reduce one of them.",
			context, prompt, max(n, 1)).as(http.StatusBadRequest, "context_length_exceeded")
	}
	return int(n), nil
}

// tooLong is the field that makes a context too long.
func (d *document) tooLong() string {
	if d.Messages == nil {
		return "prompt"
	}
	return "messages"
}

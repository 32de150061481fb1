package http

import (
	"strings"

	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
)

// kind is one of the two APIs.
type kind uint8

const (
	chat kind = iota
	completion
)

// kinds are what documents of each begin with.
var kinds = map[kind]struct{ id, whole, chunk string }{
	chat:       {"chatcmpl-", "chat.completion", "chat.completion.chunk"},
	completion: {"cmpl-", "text_completion", "text_completion"},
}

// answer is a document of a whole answer, or of a part of it.
type answer struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	// Usage is nil, or a *usage: without one it is null where some other event has one.
	Usage any `json:"usage,omitempty"`
}

// choice has one of Text, Message and Delta.
type choice struct {
	Index   int     `json:"index"`
	Text    *string `json:"text,omitempty"`
	Message *says   `json:"message,omitempty"`
	Delta   *says   `json:"delta,omitempty"`
	// FinishReason is length: an answer ends when it has as many tokens as were asked for.
	FinishReason *string `json:"finish_reason"`
}

type says struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content"`
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// assistant is the role of the server.
const assistant = "assistant"

var length = "length"

func (a *asked) used() *usage {
	return &usage{PromptTokens: a.prompt, CompletionTokens: a.tokens, TotalTokens: a.prompt + a.tokens}
}

// whole are the choices of a whole answer.
func (a *asked) whole() []choice {
	var text strings.Builder
	for i := range a.tokens {
		text.WriteString(tokens.Token(i))
	}
	c := choice{FinishReason: &length}
	if content := text.String(); a.kind == chat {
		c.Message = &says{Role: assistant, Content: content}
	} else {
		c.Text = &content
	}
	return []choice{c}
}

// part are the choices of the event of a token, from 0 on.
func (a *asked) part(i int) []choice {
	var c choice
	if text := tokens.Token(i); a.kind == completion {
		c.Text = &text
	} else if c.Delta = (&says{Content: text}); i == 0 {
		c.Delta.Role = assistant
	}
	if i == a.tokens-1 {
		c.FinishReason = &length
	}
	return []choice{c}
}

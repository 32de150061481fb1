package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/settings"
	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
)

const usage = `tokens answers as a server of a large language model does, with words that mean
nothing: POST /v1/chat/completions and /v1/completions of OpenAI's API, whole or
as server-sent events. It is a stand-in, for load tests: its times follow from the
settings below, and need no accelerator.

A request takes one of the slots, or waits in the queue, or is answered 429. All
that have a slot are decoded together in steps, each of which gives each of them a
token. A step takes --step, and --per-sequence for each of them, and
--per-prompt-token for each prompt token (4 bytes of text) of those that took a
slot at its beginning. So a server that is full answers

  1 / (P x per-prompt-token + N x (step/slots + per-sequence))

requests a second with P prompt tokens and N tokens: with the default settings,
P = 20 and N = 16, 25 a second. An answer always has as many tokens as max_tokens
says, 64 without it.

Try it:

  tokens &
  curl -N http://localhost:8080/v1/chat/completions -d \
    '{"messages": [{"role": "user", "content": "hello"}], "stream": true}'

tokens check calls a running one as a client would, and says what is wrong: see
tokens check --help.

Each flag can be given as the environment variable beside it; the flag wins.

`

// config is what the command line and the environment say.
type config struct {
	port          int
	parameters    tokens.Parameters
	shutdownDelay time.Duration
}

// parseConfig reads the flags, and the environment where there is no flag. Help is written
// to out, and returned as flag.ErrHelp.
func parseConfig(args []string, getenv func(string) string, out io.Writer) (config, error) {
	var c config
	p, is := &c.parameters, tokens.Default()
	set := settings.New("tokens", usage, getenv)
	set.Int(&c.port, "port", "PORT", "8080", "`port` to listen on; 0 takes a free one")
	set.Int(&p.Slots, "slots", "TOKENS_SLOTS", fmt.Sprint(is.Slots), "`sequences` that are decoded together")
	set.Int(&p.Queue, "queue", "TOKENS_QUEUE", fmt.Sprint(is.Queue), "`requests` that may wait for a slot")
	set.Int(&p.Context, "context", "TOKENS_CONTEXT", fmt.Sprint(is.Context), "most `tokens` of a prompt and its answer together")
	set.Duration(&p.PerPromptToken, "per-prompt-token", "TOKENS_PER_PROMPT", is.PerPromptToken.String(), "`time` of a prompt token")
	set.Duration(&p.Step, "step", "TOKENS_STEP", is.Step.String(), "`time` of a step")
	set.Duration(&p.PerSequence, "per-sequence", "TOKENS_PER_SEQUENCE", is.PerSequence.String(), "`time` of each sequence in a step")
	set.Duration(&c.shutdownDelay, "shutdown-delay", "SHUTDOWN_DELAY", "0s", "`time` to serve on after SIGTERM, until no new clients are sent here")
	if err := set.Parse(args, out); err != nil {
		return config{}, err
	}
	return c, c.validate()
}

func (c config) validate() error {
	errs := []error{c.parameters.Validate()}
	if c.port < 0 || c.port > 65535 {
		errs = append(errs, fmt.Errorf("--port (PORT) is %d: use 0 to 65535", c.port))
	}
	if c.shutdownDelay < 0 {
		errs = append(errs, fmt.Errorf("--shutdown-delay (SHUTDOWN_DELAY) is %v: use 0s or more", c.shutdownDelay))
	}
	return errors.Join(errs...)
}

package main

import (
	"io"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/settingstest"
	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestFlagsWinOverTheEnvironment(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  map[string]string
		want config
	}{
		"nothing given": {want: config{port: 8080, parameters: tokens.Default()}},
		"by environment": {
			env: map[string]string{
				"PORT": "1783", "TOKENS_SLOTS": "2", "TOKENS_QUEUE": "0", "TOKENS_CONTEXT": "100", "TOKENS_PER_PROMPT": "1us",
				"TOKENS_STEP": "2ms", "TOKENS_PER_SEQUENCE": "3ms", "SHUTDOWN_DELAY": "4s",
			},
			want: config{
				port: 1783, shutdownDelay: 4 * time.Second,
				parameters: tokens.Parameters{Slots: 2, Context: 100, PerPromptToken: time.Microsecond, Step: 2 * time.Millisecond, PerSequence: 3 * time.Millisecond},
			},
		},
		"the flag wins, even over nonsense": {
			args: []string{"--slots=8"}, env: map[string]string{"TOKENS_SLOTS": "many"},
			want: config{port: 8080, parameters: tokens.Default()},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseConfig(tt.args, servetest.Environment(tt.env), io.Discard)
			must.Succeed(t, err)
			same.As(t, "config", tt.want, got, cmp.AllowUnexported(config{}))
		})
	}
}

func parse(args []string, getenv func(string) string, out io.Writer) error {
	_, err := parseConfig(args, getenv, out)
	return err
}

func TestParseConfigRefuses(t *testing.T) {
	settingstest.Refuses(t, parse, map[string]settingstest.Mistake{
		"no slots":          {Args: []string{"--slots=0"}, Want: "slots is 0: use 1 to 1024"},
		"no time":           {Args: []string{"--step=10"}, Want: `invalid value "10" for flag -step: "10" is no duration: use the form 5s`},
		"time that is past": {Args: []string{"--shutdown-delay=-3s"}, Want: "--shutdown-delay (SHUTDOWN_DELAY) is -3s: use 0s or more"},
		"no such port":      {Env: map[string]string{"PORT": "65536"}, Want: "--port (PORT) is 65536: use 0 to 65535"},
	})
}

func TestHelpNamesEverySetting(t *testing.T) {
	settingstest.Helps(t, parse,
		"-port", "PORT", "-slots", "TOKENS_SLOTS", "-queue", "TOKENS_QUEUE", "-context", "TOKENS_CONTEXT", "-per-prompt-token", "TOKENS_PER_PROMPT",
		"-step", "TOKENS_STEP", "-per-sequence", "TOKENS_PER_SEQUENCE", "-shutdown-delay", "SHUTDOWN_DELAY", "25 a second")
	if got := tokens.Default().Capacity(20, 16); math.Abs(got-25) > 1e-9 {
		t.Errorf("the help says 25 a second, it is %v", got)
	}
}

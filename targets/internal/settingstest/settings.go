package settingstest

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
)

// Parse reads flags and the environment, and writes the help to out.
type Parse func(args []string, getenv func(string) string, out io.Writer) error

// Mistake is a command line and an environment that are refused, and the text of the error.
type Mistake struct {
	Args []string
	Env  map[string]string
	Want string
}

// Refuses expects that parse refuses each mistake with the error Want.
func Refuses(t *testing.T, parse Parse, mistakes map[string]Mistake) {
	t.Helper()
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(parse(m.Args, servetest.Environment(m.Env), io.Discard)); got != m.Want {
				t.Errorf("error\n%s\nwant\n%s", got, m.Want)
			}
		})
	}
}

// Helps expects that the help names all of words.
func Helps(t *testing.T, parse Parse, words ...string) {
	t.Helper()
	var out strings.Builder
	if err := parse([]string{"--help"}, servetest.Environment(nil), &out); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error = %v, want flag.ErrHelp", err)
	}
	for _, word := range words {
		if !strings.Contains(out.String(), word) {
			t.Errorf("the help does not mention %q:\n%s", word, out.String())
		}
	}
}

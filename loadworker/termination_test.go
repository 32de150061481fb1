package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestTheErrorIsInTheTerminationLog(t *testing.T) {
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"what it was not told":           {[]string{"--run="}, 2, "set LOADTEST_RUN or --run"},
		"each in one line":               {[]string{"--run=", "--coordinator="}, 2, "set LOADTEST_COORDINATOR or --coordinator set LOADTEST_RUN or --run"},
		"what it ended with":             {nil, 1, "coordinator CA: no certificate in PEM"},
		"an argument that is not wanted": {[]string{"run"}, 2, `unexpected argument "run"; see --help`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "termination-log")
			must.Succeed(t, os.WriteFile(log, []byte("of an earlier container, which is longer than what comes now by some "+strings.Repeat("x", 100)), 0o600))
			env := complete()
			code := run(append([]string{"--termination-log=" + log}, tt.args...), func(k string) string { return env[k] }, &bytes.Buffer{})
			got, err := os.ReadFile(log)
			must.Succeed(t, err)
			if code != tt.code || string(got) != tt.want {
				t.Errorf("exit code %d and %q, want %d and %q", code, got, tt.code, tt.want)
			}
		})
	}
}

func TestNoTerminationLogIsMade(t *testing.T) {
	log := filepath.Join(t.TempDir(), "termination-log")
	terminationLog(log).write(errors.New("over"))
	if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made where there was none: %v", err)
	}
}

func TestTheTerminationLogIsOneShortLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\tb\r\nc": "a b c",
		"x" + strings.Repeat("é", maxTermination): "x" + strings.Repeat("é", (maxTermination-4)/2) + "…",
	} {
		log := filepath.Join(t.TempDir(), "termination-log")
		must.Succeed(t, os.WriteFile(log, nil, 0o600))
		terminationLog(log).write(errors.New(text))
		if got, err := os.ReadFile(log); err != nil || string(got) != want {
			t.Errorf("of %.20q… there is %q, %v; want %q", text, got, err, want)
		}
	}
}

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
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
			if err := os.WriteFile(log, []byte("of an earlier container, which is longer than what comes now by some "+strings.Repeat("x", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
			env := complete()
			code := run(append([]string{"--termination-log=" + log}, tt.args...), func(k string) string { return env[k] }, &bytes.Buffer{})
			got, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
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

func TestOneLine(t *testing.T) {
	tests := map[string]struct {
		text string
		want string
	}{
		"short":            {"over", "over"},
		"line breaks":      {"a\n\tb\r\nc", "a b c"},
		"no UTF-8":         {"a\xffb", "a\uFFFDb"},
		"as long as it is": {"0123456789", "0123456789"},
		"too long":         {"0123456789a", "0123456…"},
		"between letters":  {"012345ééé", "012345…"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := oneLine(tt.text, 10); got != tt.want || len(got) > 10 || !utf8.ValidString(got) {
				t.Errorf("oneLine(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

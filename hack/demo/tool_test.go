package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestTools(t *testing.T) {
	var out, stderr bytes.Buffer
	with := tools{out: &out, err: &stderr}
	tests := map[string]struct {
		run              func(context.Context, string, ...string) error
		script           string
		wantOut, wantErr string
		fails            bool
	}{
		"run":                     {run: with.run, script: "echo a; echo b >&2", wantOut: "a\n", wantErr: "b\n"},
		"run, failing":            {run: with.run, script: "echo a; exit 3", wantOut: "a\n", fails: true},
		"quiet":                   {run: with.quiet, script: "echo a; echo b >&2"},
		"quiet, failing":          {run: with.quiet, script: "echo a; echo b >&2; exit 3", wantErr: "a\nb\n", fails: true},
		"show prints the command": {run: with.show, script: "echo a", wantOut: "    $ sh -c echo a\na\n"},
		"show, and failing":       {run: with.show, script: "exit 3", wantOut: "    $ sh -c exit 3\n", fails: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out.Reset()
			stderr.Reset()
			err := test.run(t.Context(), "sh", "-c", test.script)
			if (err != nil) != test.fails {
				t.Errorf("error %v, want one: %t", err, test.fails)
			}
			if test.fails && !strings.Contains(err.Error(), "exit status 3") {
				t.Errorf("error %v does not say the exit status", err)
			}
			if out.String() != test.wantOut || stderr.String() != test.wantErr {
				t.Errorf("output %q and %q, want %q and %q", out.String(), stderr.String(), test.wantOut, test.wantErr)
			}
		})
	}
}

// TestPhaseTimeout: the error is the timeout, not the interrupted program.
func TestPhaseTimeout(t *testing.T) {
	d := &demo{tools: tools{out: discard{}, err: discard{}}}
	err := d.phase(t.Context(), "Wait", time.Nanosecond, func(ctx context.Context) error {
		<-ctx.Done()
		return d.run(ctx, "sleep", "60")
	})
	if err == nil || err.Error() != "sleep 60: not done within 1ns" {
		t.Errorf("phase() = %v, want sleep 60: not done within 1ns", err)
	}
}

func TestPhase(t *testing.T) {
	var out bytes.Buffer
	d := &demo{tools: tools{out: &out, err: discard{}}}
	if err := d.phase(t.Context(), "Do it", time.Minute, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "\n==> Do it\n    done in ") {
		t.Errorf("phase() printed %q", got)
	}
	broken := errors.New("broken")
	if err := d.phase(t.Context(), "Do it", time.Minute, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("phase() = %v, want %v", err, broken)
	}
}

// TestPhasesOutsideRepository: the first thing that is said, before
// anything is installed.
func TestPhasesOutsideRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	d := &demo{tools: tools{out: &out, err: &out}}
	err := d.phases(t.Context())
	if err == nil || !strings.Contains(err.Error(), "run the demo from the root of the repository") {
		t.Errorf("phases() = %v, want it to say where to run it", err)
	}
	if out.Len() != 0 {
		t.Errorf("phases() began: %s", out.String())
	}
}

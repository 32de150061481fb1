package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestToolsRunWithTheirOutput(t *testing.T) {
	var out, stderr bytes.Buffer
	with := Tools{Out: &out, Err: &stderr}
	tests := map[string]struct {
		run              func(context.Context, string, ...string) error
		script           string
		wantOut, wantErr string
		fails            bool
	}{
		"run":                     {run: with.Run, script: "echo a; echo b >&2", wantOut: "a\n", wantErr: "b\n"},
		"run, failing":            {run: with.Run, script: "echo a; exit 3", wantOut: "a\n", fails: true},
		"quiet":                   {run: with.Quiet, script: "echo a; echo b >&2"},
		"quiet, failing":          {run: with.Quiet, script: "echo a; echo b >&2; exit 3", wantErr: "a\nb\n", fails: true},
		"show prints the command": {run: with.Show, script: "echo a", wantOut: "    $ sh -c echo a\na\n"},
		"show, and failing":       {run: with.Show, script: "exit 3", wantOut: "    $ sh -c exit 3\n", fails: true},
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

// TestPhasesEndWithTheirTime: the error is the timeout, not the interrupted program.
func TestPhasesEndWithTheirTime(t *testing.T) {
	d := Tools{Out: Discard{}, Err: Discard{}}
	err := d.Phase(t.Context(), "Wait", time.Nanosecond, func(ctx context.Context) error {
		<-ctx.Done()
		return d.Run(ctx, "sleep", "60")
	})
	if err == nil || err.Error() != "sleep 60: not done within 1ns" {
		t.Errorf("Phase() = %v, want sleep 60: not done within 1ns", err)
	}
}

func TestPhasesSayHowTheyEnded(t *testing.T) {
	var out bytes.Buffer
	d := Tools{Out: &out, Err: Discard{}}
	must.Succeed(t, d.Phase(t.Context(), "Do it", time.Minute, func(context.Context) error { return nil }))
	if got := out.String(); !strings.HasPrefix(got, "\n==> Do it\n    done in ") {
		t.Errorf("Phase() printed %q", got)
	}
	broken := errors.New("broken")
	if err := d.Phase(t.Context(), "Do it", time.Minute, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Phase() = %v, want %v", err, broken)
	}
}

func TestExitCodesOfVerdictsAreNoFailures(t *testing.T) {
	for code, want := range map[string]bool{"1": true, "2": true, "3": true, "4": false, "130": false} {
		err := Tools{Out: Discard{}, Err: Discard{}}.Run(t.Context(), "sh", "-c", "exit "+code)
		same.As(t, fmt.Sprintf("IsVerdict(exit code %s)", code), want, IsVerdict(err))
	}
	if IsVerdict(nil) || IsVerdict(errors.New("no program")) || IsVerdict(&exec.Error{Name: "kubectl", Err: exec.ErrNotFound}) {
		t.Error("IsVerdict() is true without an exit code")
	}
}

package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Tools are the programs that do the work, with what they print.
type Tools struct{ Out, Err io.Writer }

// shutdownTimeout is how long a program may take to end after it was interrupted: Helm
// notes in its release that it was.
const shutdownTimeout = 10 * time.Second

func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = shutdownTimeout
	return c
}

// Show prints a command line and runs it with its output in sight.
func (t Tools) Show(ctx context.Context, name string, args ...string) error {
	_, _ = fmt.Fprintf(t.Out, "    $ %s %s\n", name, strings.Join(args, " "))
	return t.Run(ctx, name, args...)
}

// Run runs a command with its output in sight.
func (t Tools) Run(ctx context.Context, name string, args ...string) error {
	c := command(ctx, name, args...)
	c.Stdout, c.Stderr = t.Out, t.Err
	return because(ctx, name, args, c.Run())
}

// Quiet runs a command; what it says is seen only when it fails.
func (t Tools) Quiet(ctx context.Context, name string, args ...string) error {
	var said bytes.Buffer
	c := command(ctx, name, args...)
	c.Stdout, c.Stderr = &said, &said
	err := c.Run()
	if err != nil {
		_, _ = t.Err.Write(said.Bytes())
	}
	return because(ctx, name, args, err)
}

// Output is what a command prints.
func (t Tools) Output(ctx context.Context, name string, args ...string) ([]byte, error) {
	var answer, said bytes.Buffer
	c := command(ctx, name, args...)
	c.Stdout, c.Stderr = &answer, &said
	if err := c.Run(); err != nil {
		_, _ = t.Err.Write(said.Bytes())
		return nil, because(ctx, name, args, err)
	}
	return answer.Bytes(), nil
}

// Get decodes what kubectl get prints.
func (t Tools) Get(ctx context.Context, into any, args ...string) error {
	args = append(append([]string{"get"}, args...), "--output=json")
	answer, err := t.Output(ctx, "kubectl", args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("read the answer of kubectl %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// because says which command failed, and that it was out of time if it was.
func because(ctx context.Context, name string, args []string, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("%s %s: %w", name, strings.Join(args[:min(2, len(args))], " "), err)
}

// IsVerdict says whether kubectl loadtest ended with a verdict about the target:
// Failed (1), Inconclusive (2) or Canceled (3).
func IsVerdict(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() >= 1 && exit.ExitCode() <= 3
}

// Discard drops its input; unlike io.Discard it is no file for exec.
type Discard struct{}

func (Discard) Write(p []byte) (int, error) { return len(p), nil }

// Phase runs a part within a limit and says how long it took.
func (t Tools) Phase(ctx context.Context, title string, limit time.Duration, do func(context.Context) error) error {
	_, _ = fmt.Fprintf(t.Out, "\n==> %s\n", title)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done within %s", limit))
	defer cancel()
	start := time.Now()
	if err := do(ctx); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(t.Out, "    done in %s\n", time.Since(start).Round(100*time.Millisecond))
	return nil
}

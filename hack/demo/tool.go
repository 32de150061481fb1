package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// tools are the programs that do the work, with what they print.
type tools struct{ out, err io.Writer }

// shutdownTimeout is how long a program may take to end after it was interrupted: Helm
// notes in its release that it was.
const shutdownTimeout = 10 * time.Second

func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = shutdownTimeout
	return c
}

// show prints a command line and runs it with its output in sight.
func (t tools) show(ctx context.Context, name string, args ...string) error {
	_, _ = fmt.Fprintf(t.out, "    $ %s %s\n", name, strings.Join(args, " "))
	return t.run(ctx, name, args...)
}

// run runs a command with its output in sight.
func (t tools) run(ctx context.Context, name string, args ...string) error {
	c := command(ctx, name, args...)
	c.Stdout, c.Stderr = t.out, t.err
	return because(ctx, name, args, c.Run())
}

// quiet runs a command; what it says is seen only when it fails.
func (t tools) quiet(ctx context.Context, name string, args ...string) error {
	var said bytes.Buffer
	c := command(ctx, name, args...)
	c.Stdout, c.Stderr = &said, &said
	err := c.Run()
	if err != nil {
		_, _ = t.err.Write(said.Bytes())
	}
	return because(ctx, name, args, err)
}

// get decodes what kubectl get prints.
func (t tools) get(ctx context.Context, into any, args ...string) error {
	args = append(append([]string{"get"}, args...), "--output=json")
	var answer, said bytes.Buffer
	c := command(ctx, "kubectl", args...)
	c.Stdout, c.Stderr = &answer, &said
	if err := c.Run(); err != nil {
		_, _ = t.err.Write(said.Bytes())
		return because(ctx, "kubectl", args, err)
	}
	if err := json.Unmarshal(answer.Bytes(), into); err != nil {
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

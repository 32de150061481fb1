package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// gremlins reads the result of a mutant from the exit code of the go command.
const (
	lived     = 0
	killed    = 1
	notViable = 2
	// timedOut is not gremlins'; it is passed on as not viable, and counted here.
	timedOut = 3
)

// stand does what the go command does, in its place, and returns its exit code.
func stand(args []string) int {
	code := lived
	var err error
	switch profile := slices.Index(args, "-coverprofile") + 1; {
	case profile > 0 && profile < len(args):
		if err = prepare(args); err == nil {
			err = widenFile(args[profile])
		}
	case len(args) > 0 && args[0] == "test":
		if err = boundMemory(); err == nil {
			code, err = try(args)
		}
		if code == timedOut {
			code, err = notViable, errors.Join(err, count())
		}
	default:
		err = run(os.Stdout, args)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutation:", err)
		return notViable
	}
	return code
}

// failure returns the exit code of a mutant's failed run. Only a test that failed kills
// a mutant: one that does not compile is not viable, nor is one whose test program did
// not start.
func failure(output []byte) int {
	if bytes.Contains(output, []byte("panic: test timed out after ")) {
		return timedOut
	}
	for _, sign := range []string{"--- FAIL: ", "panic: ", "fatal error: "} {
		if bytes.Contains(output, []byte(sign)) {
			return killed
		}
	}
	return notViable
}

// count notes a mutant that timed out, by one more byte in a file.
func count() error {
	file, err := os.OpenFile(os.Getenv(timedOutVariable), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(".")
	return errors.Join(err, file.Close())
}

// boundMemory keeps a mutant that loops and allocates for ever from taking all memory
// before its time is up. The compiler and the linker need less.
func boundMemory() error {
	const most = 4 << 30
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most})
}

func run(out io.Writer, args []string) error {
	cmd := exec.Command(os.Getenv(goVariable), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out, os.Stderr
	return cmd.Run()
}

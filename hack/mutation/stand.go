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
	killed    = 1
	notViable = 2
)

// stand does what the go command does, in its place, and returns its exit code.
func stand(args []string) int {
	profile := slices.Index(args, "-coverprofile") + 1
	var err error
	switch {
	case profile > 0 && profile < len(args):
		// A cached result would make the timeout short, a multiple of no time.
		if err = run(os.Stdout, slices.Insert(slices.Clone(args), 1, "-count=1")); err == nil {
			err = widenFile(args[profile])
		}
	case len(args) > 0 && args[0] == "test":
		if err = boundMemory(); err != nil {
			break
		}
		// A mutant is killed by a test, not by a remark of vet.
		var out bytes.Buffer
		if err = run(&out, slices.Insert(slices.Clone(args), 1, "-vet=off")); err != nil {
			return failure(out.Bytes())
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
		return 1
	}
	return 0
}

// failure returns the exit code of a mutant's failed run. Only a test that failed kills
// a mutant: the go command returns the same code for what does not compile, and for a
// test program that did not start.
func failure(output []byte) int {
	for _, sign := range []string{"--- FAIL: ", "panic: ", "fatal error: "} {
		if bytes.Contains(output, []byte(sign)) {
			return killed
		}
	}
	return notViable
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

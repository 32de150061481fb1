package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/hack/components/build"
)

// logf writes a line for the user to the error stream: a program may read the
// output.
func logf(format string, args ...any) { fmt.Fprintf(os.Stderr, "cluster: "+format+"\n", args...) }

// progress returns what shows the progress of a build: one line that is
// overwritten on a terminal, a line now and then elsewhere.
func progress() func(build.Progress) {
	show := build.Lines
	if _, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS); err == nil {
		show = build.Screen
	}
	return show(os.Stderr, "cluster", "Kubernetes")
}

package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/build"
)

// logf writes a line for the user to the error stream: a program may read the
// output.
func logf(format string, args ...any) { fmt.Fprintf(os.Stderr, "cluster: "+format+"\n", args...) }

// quiet is how far apart lines of progress are where they cannot be
// overwritten, so that a log stays readable.
const quiet = 10 * time.Second

// progress returns what shows the progress of a build: one line that is
// overwritten on a terminal, a line now and then elsewhere.
func progress() func(build.Progress) {
	if _, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS); err == nil {
		return overwrite(os.Stderr)
	}
	return nowAndThen(os.Stderr)
}

func overwrite(w io.Writer) func(build.Progress) {
	return func(p build.Progress) {
		end := ""
		if p.Ended {
			end = "\n"
		}
		fmt.Fprintf(w, "\r\x1b[Kcluster: %s%s", line(p), end)
	}
}

func nowAndThen(w io.Writer) func(build.Progress) {
	next := time.Duration(0)
	return func(p build.Progress) {
		if p.Elapsed >= next || p.Ended {
			next = p.Elapsed + quiet
			fmt.Fprintf(w, "cluster: %s\n", line(p))
		}
	}
}

// line is the progress of a build. When all packages are compiled, the linker
// runs.
func line(p build.Progress) string {
	elapsed := p.Elapsed.Round(time.Second)
	switch {
	case p.Ended:
		return fmt.Sprintf("built Kubernetes in %s", elapsed)
	case p.Done == p.Total:
		return fmt.Sprintf("linking Kubernetes, %s", elapsed)
	}
	return fmt.Sprintf("building Kubernetes: %d of %d packages, %s", p.Done, p.Total, elapsed)
}

package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/build"
)

// say tells the user something. It goes to the error stream, so that the
// output of a command can be used.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "cluster: "+format+"\n", args...) }

// quiet is how far apart lines of progress are where they cannot be
// overwritten, so that a log stays readable.
const quiet = 15 * time.Second

// progress returns what shows the progress of a build: one line that is
// overwritten on a terminal, a line now and then elsewhere.
func progress() func(build.Progress) {
	_, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS)
	if err == nil {
		return func(p build.Progress) {
			end := ""
			if p.Done == p.Total {
				end = " (linking)"
			}
			fmt.Fprintf(os.Stderr, "\r\x1b[K%s%s", line(p), end)
		}
	}
	var last time.Duration
	return func(p build.Progress) {
		if last == 0 || p.Elapsed-last >= quiet {
			last = p.Elapsed
			say("%s", line(p))
		}
	}
}

func line(p build.Progress) string {
	return fmt.Sprintf("building Kubernetes: %d of %d packages, %s", p.Done, p.Total, p.Elapsed.Round(time.Second))
}

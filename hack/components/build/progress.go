package build

import (
	"fmt"
	"io"
	"time"
)

// Progress is that of a build.
type Progress struct {
	// Done and Total count packages to compile, without those that Go's own
	// cache has.
	Done, Total int
	Elapsed     time.Duration
	// Ended is true of the last report of a build that succeeded.
	Ended bool
}

// quiet is how far apart lines of progress are where they cannot be
// overwritten, so that a log stays readable.
const quiet = 10 * time.Second

// Lines writes a line of progress now and then, for a log. Each begins with the name of
// the program that builds; what is what it builds.
func Lines(w io.Writer, program, what string) func(Progress) {
	next := time.Duration(0)
	return func(p Progress) {
		if p.Elapsed >= next || p.Ended {
			next = p.Elapsed + quiet
			fmt.Fprintf(w, "%s: %s\n", program, p.line(what))
		}
	}
}

// Screen writes one line that is overwritten, for a terminal.
func Screen(w io.Writer, program, what string) func(Progress) {
	return func(p Progress) {
		end := ""
		if p.Ended {
			end = "\n"
		}
		fmt.Fprintf(w, "\r\x1b[K%s: %s%s", program, p.line(what), end)
	}
}

// line is the progress of a build. When all packages are compiled, the linker
// runs.
func (p Progress) line(what string) string {
	elapsed := p.Elapsed.Round(time.Second)
	switch {
	case p.Ended:
		return fmt.Sprintf("built %s in %s", what, elapsed)
	case p.Done == p.Total:
		return fmt.Sprintf("linking %s, %s", what, elapsed)
	}
	return fmt.Sprintf("building %s: %d of %d packages, %s", what, p.Done, p.Total, elapsed)
}

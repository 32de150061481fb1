package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// result is that of one run of a target.
type result struct {
	executions int64
	failed     bool
}

// run fuzzes the target for some time.
func (t target) run(ctx context.Context, each time.Duration) result {
	var out bytes.Buffer
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$",
		"-fuzztime", each.String(), "-fuzzminimizetime", "100x", "-parallel", "1", "./"+t.folder)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // go test ends its workers
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	r := read(out.Bytes(), err == nil || ctx.Err() != nil)
	if r.failed {
		_, _ = io.Copy(os.Stderr, &out)
	}
	fmt.Printf("%s %s: %d executions\n", t.folder, t.name, r.executions)
	return r
}

var (
	progress = regexp.MustCompile(`(?m)^fuzz: elapsed: \S+, execs: (\d+) `)
	// An input that was running when the time was over is no failure.
	interrupted = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \([^)]*\)\n\s+context deadline exceeded$`)
)

// read reads what the go command printed.
func read(out []byte, ok bool) (r result) {
	if all := progress.FindAllSubmatch(out, -1); len(all) > 0 {
		r.executions, _ = strconv.ParseInt(string(all[len(all)-1][1]), 10, 64) // they are digits
	}
	r.failed = !ok && !interrupted.Match(out)
	return r
}

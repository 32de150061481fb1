package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
)

// write keeps the report, with what is needed to repeat it.
func (b *bench) write(ctx context.Context, name string, args []string, report string) error {
	folder := filepath.Join(b.root, "docs", "results")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text := header(name, args, b.commit(ctx), time.Now()) + report
	return os.WriteFile(filepath.Join(folder, file(name)), []byte(text), 0o644)
}

// file is the name of a record. That of peers is read by people who look for k6 and Locust, not for
// benchmarks.
func file(name string) string {
	if name == "peers" {
		return "peers.md"
	}
	return "bench-" + name + ".md"
}

// commit is that of the repository, marked when files differ from it.
func (b *bench) commit(ctx context.Context) string {
	c := exec.CommandContext(ctx, "git", "-C", b.root, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
	out, err := c.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func header(name string, args []string, commit string, now time.Time) string {
	command := "make bench-" + name
	flags := slices.DeleteFunc(slices.Clone(args[1:]), func(a string) bool { return a == "--record" || a == "-record" })
	if len(flags) > 0 {
		command += fmt.Sprintf(" ARGS='%s'", strings.Join(flags, " "))
	}
	return fmt.Sprintf(`# bench-%s

- Date: %s
- Commit: %s
- Machine: %d x %s, %.0f GiB, Linux %s, %s
- Command: %s

Ratios within one run carry over to other machines; absolute figures do not.

`,
		name, now.UTC().Format("2006-01-02 15:04 MST"), commit,
		runtime.NumCPU(), process.Processor(), float64(process.Memory())/(1<<30), process.Kernel(), runtime.Version(),
		"`"+command+"`")
}

package prerequisite

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Program is one that a build runs, and the Debian package that has it.
type Program struct{ Name, Package string }

// Ensure returns nil if the program can be run. If install is set and it is
// not there, it is installed; progress goes to w.
func (p Program) Ensure(ctx context.Context, install bool, w io.Writer) error {
	if _, err := exec.LookPath(p.Name); err == nil {
		return nil
	}
	if !install {
		return fmt.Errorf("%s is missing: run apt-get install %s, or pass --install", p.Name, p.Package)
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("%s is missing, and only root may install it: run sudo apt-get install %s", p.Name, p.Package)
	}
	for _, args := range [][]string{{"update"}, {"install", "--yes", "--no-install-recommends", p.Package}} {
		fmt.Fprintf(w, "apt-get %s\n", args[0])
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, output)
		}
	}
	return nil
}

package prerequisite

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program is one that a build runs, or a file that it reads, and the Debian package that
// has it. A file has an absolute path for a name.
type Program struct{ Name, Package string }

// Ensure returns nil if the program can be run. If install is set and it is
// not there, it is installed; progress goes to w.
func (p Program) Ensure(ctx context.Context, install bool, w io.Writer) error {
	return Ensure(ctx, []Program{p}, install, w)
}

// Ensure does it for several, which are installed at once.
func Ensure(ctx context.Context, programs []Program, install bool, w io.Writer) error {
	var names, packages []string
	for _, p := range programs {
		if !p.isThere() {
			names, packages = append(names, p.Name), append(packages, p.Package)
		}
	}
	verb := "is"
	if len(names) > 1 {
		verb = "are"
	}
	missing, wanted := strings.Join(names, ", ")+" "+verb+" missing", strings.Join(packages, " ")
	switch {
	case len(names) == 0:
		return nil
	case !install:
		return fmt.Errorf("%s: run apt-get install %s, or pass --install", missing, wanted)
	case os.Geteuid() != 0:
		return fmt.Errorf("%s, and only root may install it: run sudo apt-get install %s", missing, wanted)
	}
	for _, args := range [][]string{{"update"}, append([]string{"install", "--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"}, packages...)} {
		fmt.Fprintf(w, "apt-get %s\n", args[0])
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		// Services are not started by the packages that have them.
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, output)
		}
	}
	return nil
}

func (p Program) isThere() bool {
	if filepath.IsAbs(p.Name) {
		_, err := os.Stat(p.Name)
		return err == nil
	}
	_, err := exec.LookPath(p.Name)
	return err == nil
}

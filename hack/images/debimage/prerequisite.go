package debimage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Prerequisite makes sure that mmdebstrap is there. If install is set and it is
// not, it is installed; progress goes to w.
func Prerequisite(ctx context.Context, install bool, w io.Writer) error {
	if _, err := exec.LookPath("mmdebstrap"); err == nil {
		return nil
	}
	if !install {
		return errors.New("mmdebstrap is missing: run apt-get install mmdebstrap, or build with --install")
	}
	if os.Geteuid() != 0 {
		return errors.New("mmdebstrap is missing, and only root may install it: run sudo apt-get install mmdebstrap")
	}
	for _, args := range [][]string{{"update"}, {"install", "--yes", "--no-install-recommends", "mmdebstrap"}} {
		fmt.Fprintf(w, "apt-get %s\n", args[0])
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, output)
		}
	}
	return nil
}

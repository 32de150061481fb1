//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

// apart keeps the terminal's signals from a worker: Ctrl-C asks for the end of the run,
// and the worker is needed for its result.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

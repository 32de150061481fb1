package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Spec is a process to start.
type Spec struct {
	// Name is what the process is found by.
	Name string
	Path string
	Args []string
	// Env is added to PATH, which is all that is passed on.
	Env []string
	// Log gets what the process prints, after what it has.
	Log string
}

// Start makes a daemon: it outlives this program and its terminal. Only PATH
// of the caller's environment reaches it, so that proxies and credentials of a
// shell do not end up in a cluster.
func (t Table) Start(spec Spec) (pid int, err error) {
	if err := os.MkdirAll(filepath.Dir(spec.Log), 0o755); err != nil {
		return 0, fmt.Errorf("make log folder: %w", err)
	}
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, fmt.Errorf("open log: %w", err)
	}
	defer log.Close()

	command := exec.Command(spec.Path, spec.Args...)
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), t.variable(spec.Name)}, spec.Env...)
	command.Dir = "/"
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	// Reaped here as long as this program runs, by init afterwards.
	go func() { _ = command.Wait() }()
	return command.Process.Pid, nil
}

func (t Table) variable(name string) string { return mark + "=" + t.Owner + separator + name }

// RaiseFileLimit lets this program and all it starts open as many files as the
// hard limit allows: containers inherit it, and a load generator needs one per
// connection.
func RaiseFileLimit() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	// syscall's, not unix's: this one also tells the runtime, which otherwise
	// gives children the limit that the program began with.
	err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit.Max, Max: limit.Max})
	if err != nil {
		return fmt.Errorf("raise the limit of open files to %d: %w", limit.Max, err)
	}
	return nil
}

package postgrestest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// startTimeout bounds a start, also where every package is tested at once.
	startTimeout = time.Minute
	// maxLog bounds how much of its log is kept to explain a failed start.
	maxLog = 200
)

// Process is a program that refuses to run as root, as Postgres and PgBouncer
// do, with its output.
type Process struct {
	pid int
	// ready is sent a nil when the awaited text was read, or why it was not.
	ready chan error
	// gone is closed when the process has ended, drained when nobody is left
	// who could write to its output, such as a child of it.
	gone, drained chan struct{}
}

// RunProcess starts a program as a user that is not root, and returns when its
// output has said the text. The program ends with this process at the latest,
// however that ends.
func RunProcess(ready, program string, args ...string) (*Process, error) {
	attr, err := Unprivileged()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = "/" // one that the user can be in
	cmd.SysProcAttr = attr
	// Of SIGQUIT Postgres tells its children; of SIGKILL they find out late.
	attr.Setpgid, attr.Pdeathsig = true, syscall.SIGQUIT
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe the output of %s: %w", program, err)
	}
	cmd.Stdout, cmd.Stderr = writer, writer
	p := &Process{ready: make(chan error, 1), gone: make(chan struct{}), drained: make(chan struct{})}
	if err := p.start(cmd, writer); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), reader.Close())
	}
	go p.read(reader, ready)
	select {
	case err = <-p.ready:
	case <-time.After(startTimeout):
		p.End(syscall.SIGKILL)
		err = errors.Join(fmt.Errorf("it was killed after %v", startTimeout), <-p.ready)
	}
	if err != nil {
		p.End(syscall.SIGKILL)
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return p, nil
}

// start starts the command, and waits for its end in the background.
func (p *Process) start(cmd *exec.Cmd, output io.Closer) error {
	started := make(chan error, 1)
	go func() {
		defer close(p.gone)
		// "This process" is to the kernel the thread that started the child. It
		// is locked, so that the runtime does not end it, and ends with us.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = output.Close()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			_ = cmd.Wait() // reports the signal that ended it
		}
	}()
	return <-started
}

func (p *Process) read(output io.ReadCloser, ready string) {
	defer close(p.drained)
	defer output.Close()
	p.ready <- awaitLine(output, ready)
	_, _ = io.Copy(io.Discard, output)
}

func awaitLine(output io.Reader, text string) error {
	var seen []string
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return nil
		}
		if seen = append(seen, lines.Text()); len(seen) > maxLog {
			seen = seen[1:]
		}
	}
	return errors.Join(lines.Err(), fmt.Errorf("it ended before it said %q:\n%s", text, strings.Join(seen, "\n")))
}

// End sends the process a signal that ends it, and returns when it and its
// children are gone.
func (p *Process) End(signal syscall.Signal) {
	select {
	case <-p.gone: // its id may be another's by now
	default:
		_ = syscall.Kill(p.pid, signal)
		<-p.gone
	}
	<-p.drained
}

// Unprivileged are the attributes of a process that does not run as root: none
// if this one does not, else those of the user nobody.
func Unprivileged() (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	uid, gid, err := nobody()
	if err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// Folder creates a folder that the processes can write to.
func Folder(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil || os.Geteuid() != 0 {
		return dir, err
	}
	uid, gid, err := nobody()
	if err != nil {
		return dir, err
	}
	return dir, os.Chown(dir, uid, gid)
}

func nobody() (uid, gid int, err error) {
	u, err := user.Lookup("nobody")
	if err != nil {
		return 0, 0, fmt.Errorf("find a user that is not root: %w", err)
	}
	uid, err = strconv.Atoi(u.Uid)
	if err != nil {
		return 0, 0, fmt.Errorf("id of the user nobody: %w", err)
	}
	gid, err = strconv.Atoi(u.Gid)
	if err != nil {
		return 0, 0, fmt.Errorf("group of the user nobody: %w", err)
	}
	return uid, gid, nil
}

// ports counts the addresses that were handed out.
var ports atomic.Int64

// Address returns where the next server of this process may listen. No port of
// 127.0.0.1 that was found free is sure to be so a moment later, and still
// less after a crash. But all of 127.0.0.0/8 is this machine: each process has
// an address made of its id, and counts ports below those that the system
// hands out.
func Address() (host string, port int) {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 64+(pid>>16)&0x7f, (pid>>8)&0xff, pid&0xff), 15432 + int(ports.Add(1))
}

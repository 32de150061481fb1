package daemon

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// startTimeout bounds a start, also where every package is tested at once:
	// Kafka takes 4 s on an idle machine.
	startTimeout = 3 * time.Minute
	// maxLog bounds how many lines of its output explain a failed start.
	maxLog = 200
)

// Program is the path of the program.
type Program struct {
	Path string
	Args []string
	// Ready is what the program says, on either output, once it serves.
	Ready string
	// Within bounds the time until then; 0 is three minutes.
	Within time.Duration
	// Unprivileged says that the program refuses to run as root.
	Unprivileged bool
	// DeathSignal is the signal that ends it when this process has ended: SIGKILL,
	// which nothing can hold off, if none is named.
	DeathSignal syscall.Signal
}

// Process is a program that runs, alone in its process group.
type Process struct {
	pid int
	// ready is sent a nil when the awaited text was read, or why it was not.
	ready chan error
	// gone is closed when the process has ended, drained when no process is left
	// that could write to its output, such as a child.
	gone, drained chan struct{}
}

// Start returns when the program is ready. It ends with this process at the
// latest, however that ends.
func Start(p Program) (*Process, error) {
	cmd := exec.Command(p.Path, p.Args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if p.Unprivileged {
		var err error
		if cmd.SysProcAttr, err = Unprivileged(); err != nil {
			return nil, err
		}
		cmd.Dir = "/" // one that the user can be in
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = cmp.Or(p.DeathSignal, syscall.SIGKILL)
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe the output of %s: %w", p.Path, err)
	}
	cmd.Stdout, cmd.Stderr = writer, writer
	process := &Process{ready: make(chan error, 1), gone: make(chan struct{}), drained: make(chan struct{})}
	if err := process.start(cmd, writer); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", p.Path, err), reader.Close())
	}
	go process.read(reader, p.Ready)
	if err := process.await(cmp.Or(p.Within, startTimeout)); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Path, err)
	}
	return process, nil
}

func (p *Process) await(timeout time.Duration) error {
	var err error
	select {
	case err = <-p.ready:
	case <-time.After(timeout):
		p.End(syscall.SIGKILL)
		err = errors.Join(fmt.Errorf("it was killed after %v", timeout), <-p.ready)
	}
	if err != nil {
		p.End(syscall.SIGKILL)
	}
	return err
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

// awaitLine returns when a line holds the text; after it, the output is read
// and forgotten.
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

// Signal sends the process a signal that it survives.
func (p *Process) Signal(signal syscall.Signal) error { return syscall.Kill(p.pid, signal) }

// End sends the process and its children a signal that ends them, and returns
// when they are gone.
func (p *Process) End(signal syscall.Signal) {
	select {
	case <-p.gone: // its id may be another's by now
	default:
		_ = syscall.Kill(-p.pid, signal)
		<-p.gone
	}
	<-p.drained
}

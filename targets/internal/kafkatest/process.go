package kafkatest

import (
	"bufio"
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

// maxLog bounds how much of its log is kept to explain a failed start.
const maxLog = 200

// process is one program, alone in its process group, with its output.
type process struct {
	pid   int
	lines chan string // closed when the output has ended
	// gone is closed when the process has ended, drained when nobody is left
	// who could write to its output, such as a child of it.
	gone, drained chan struct{}
}

// run starts a program that ends when it is killed, or with this process at
// the latest, however that ends.
func run(program string, args []string) (*process, error) {
	cmd := exec.Command(program, args...)
	// SIGKILL, which nothing can hold off, comes when this process ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe the output of %s: %w", program, err)
	}
	cmd.Stdout, cmd.Stderr = writer, writer
	p := &process{lines: make(chan string), gone: make(chan struct{}), drained: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		defer close(p.gone)
		// "This process" is to the kernel the thread that started the child. It
		// is locked, so that the runtime does not end it, and ends with us.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = writer.Close()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			_ = cmd.Wait() // reports the kill
		}
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), reader.Close())
	}
	go p.read(reader)
	return p, nil
}

func (p *process) read(output io.ReadCloser) {
	defer close(p.drained)
	defer close(p.lines)
	defer output.Close()
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		p.lines <- lines.Text()
	}
	_, _ = io.Copy(io.Discard, output) // a line too long for the scanner
}

// await returns when a line of the output contains text. After it the output
// is read and forgotten.
func (p *process) await(text string, timeout time.Duration) error {
	late := time.NewTimer(timeout)
	defer late.Stop()
	var seen []string
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				return fmt.Errorf("it ended before it said %q:\n%s", text, strings.Join(seen, "\n"))
			}
			if strings.Contains(line, text) {
				go p.forget()
				return nil
			}
			if seen = append(seen, line); len(seen) > maxLog {
				seen = seen[1:]
			}
		case <-late.C:
			return fmt.Errorf("it did not say %q within %v:\n%s", text, timeout, strings.Join(seen, "\n"))
		}
	}
}

func (p *process) forget() {
	for range p.lines {
	}
}

// kill ends the process and all of its group, and returns when they are gone.
func (p *process) kill() {
	go p.forget() // the output is read to its end
	select {
	case <-p.gone: // its id may be another's by now
	default:
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
		<-p.gone
	}
	<-p.drained
}

package process

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Command is a program to run.
type Command struct {
	Path string
	Args []string
	// Env is added to this process's own.
	Env []string
	// Core is the one that it runs on, with all that it starts; Anywhere: any.
	Core int
	// Tree has the processes that it starts count as its own: their processor time, of those that it waits for, and
	// their memory.
	Tree bool
	// Stdin is its standard input. Absent: a pipe, which Process.Stdin writes to.
	Stdin io.Reader
	// Stdout takes its standard output. Absent: a pipe, Process.Stdout.
	Stdout io.Writer
	// Stderr takes its standard error, which errors quote the end of. It may be nil.
	Stderr io.Writer
}

// Anywhere is no particular core.
const Anywhere = -1

// Process is a program that runs.
type Process struct {
	// Stdin and Stdout are pipes, if the command did not say otherwise.
	Stdin  io.WriteCloser
	Stdout *bufio.Reader

	name   string
	tree   bool // its descendants count
	cmd    *exec.Cmd
	stderr tail
	peak   atomic.Int64 // of resident memory, bytes
	done   chan struct{}
}

// Usage is what a process cost.
type Usage struct {
	// CPU is the time in which it or the kernel for it computed.
	CPU time.Duration
	// PeakRSS is its largest resident memory, in bytes. Of a tree of processes it is the largest sum that was seen of
	// their proportional set sizes.
	PeakRSS int64
}

// Start starts a command.
func Start(c Command) (*Process, error) {
	p := &Process{name: filepath.Base(c.Path), tree: c.Tree, cmd: exec.Command(c.Path, c.Args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.Stderr = &p.stderr
	if c.Stderr != nil {
		p.cmd.Stderr = io.MultiWriter(&p.stderr, c.Stderr)
	}
	// What a benchmark starts ends with it, even if it is killed.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if p.cmd.Stdin = c.Stdin; c.Stdin == nil {
		if p.Stdin, err = p.cmd.StdinPipe(); err != nil {
			return nil, err
		}
	}
	if p.cmd.Stdout = c.Stdout; c.Stdout == nil {
		stdout, err := p.cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		p.Stdout = bufio.NewReader(stdout)
	}
	if err := onCore(c.Core, p.cmd.Start); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	go p.watch()
	return p, nil
}

// The kernel forgets the peak of the memory with the process: it is looked at when the process is asked to end, and
// before that in twentieths of the time since it began, within these bounds. A look takes the processor from the
// generator or the server, which is why there are no more.
const (
	seldom = time.Second
	often  = 20 * time.Millisecond
)

func (p *Process) watch() {
	began := time.Now()
	for {
		p.look()
		select {
		case <-time.After(min(seldom, max(often, time.Since(began)/20))):
		case <-p.done:
			return
		}
	}
}

func (p *Process) look() {
	if p.tree {
		p.peak.Store(max(treePSS(p.cmd.Process.Pid), p.peak.Load()))
		return
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return // it has ended
	}
	if peak, ok := peakRSS(status); ok {
		p.peak.Store(max(peak, p.peak.Load()))
	}
}

// PeakRSS is the largest resident memory so far, in bytes.
func (p *Process) PeakRSS() int64 {
	p.look()
	return p.peak.Load()
}

// ReadJSON reads a line of its standard output, which may be long.
func (p *Process) ReadJSON(into any) error {
	line, err := p.Stdout.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

// Wait waits for its end. Its output must have been read to the end before.
func (p *Process) Wait() (Usage, error) {
	err := p.cmd.Wait()
	close(p.done)
	u := Usage{PeakRSS: p.peak.Load()}
	if s := p.cmd.ProcessState; s != nil {
		u.CPU = s.UserTime() + s.SystemTime()
	}
	if err != nil {
		return u, fmt.Errorf("%s: %w: %s", p.name, err, p.stderr.String())
	}
	return u, nil
}

// Stop ends a process that ends when its standard input does.
func (p *Process) Stop() (Usage, error) {
	p.look()
	_ = p.Stdin.Close() // closed already, if it has ended
	if p.Stdout != nil {
		_, _ = io.Copy(io.Discard, p.Stdout)
	}
	return p.Wait()
}

// Terminate asks a process to end that does so when it is asked, and waits.
func (p *Process) Terminate(ask os.Signal) (Usage, error) {
	p.look()
	_ = p.cmd.Process.Signal(ask) // it has ended already, which Wait tells
	return p.Wait()
}

// CPU is the time in which it, or the kernel for it, has computed so far.
func (p *Process) CPU() (time.Duration, error) {
	of := cpuTime
	if p.tree {
		of = treeCPU
	}
	t, err := of(p.cmd.Process.Pid)
	if err != nil {
		return 0, fmt.Errorf("processor time of %s: %w", p.name, err)
	}
	return t, nil
}

// Kill ends a process that takes too long.
func (p *Process) Kill() { _ = p.cmd.Process.Kill() }

// tail keeps the last bytes written to it.
type tail struct{ b []byte }

const maxTail = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-maxTail):]
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(bytes.ToValidUTF8(t.b, nil))) }

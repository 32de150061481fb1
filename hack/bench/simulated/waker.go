package simulated

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Waker is a process in which the workers of this one wake up for their steps: the program
// of hack/bench/waker.
type Waker struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan error

	mu    sync.Mutex
	last  int64
	wakes map[int64]func(late time.Duration)
}

// StartWaker starts the program.
func StartWaker(ctx context.Context, path string) (*Waker, error) {
	w := &Waker{cmd: exec.CommandContext(ctx, path), done: make(chan error, 1), wakes: map[int64]func(late time.Duration){}}
	w.cmd.Stderr = os.Stderr
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.in = in
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the waker: %w", err)
	}
	go func() { w.done <- w.read(out) }()
	return w, nil
}

// At calls f soon after an instant, with how late the process woke up for it.
func (w *Waker) At(t time.Time, f func(late time.Duration)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	w.wakes[w.last] = f
	_, err := fmt.Fprintln(w.in, w.last, t.UnixNano())
	return err
}

// read hands out what the process says.
func (w *Waker) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var id int64
		var late time.Duration
		if _, err := fmt.Sscan(lines.Text(), &id, &late); err != nil {
			return fmt.Errorf("%q of the waker: %w", lines.Text(), err)
		}
		w.mu.Lock()
		f := w.wakes[id]
		delete(w.wakes, id)
		w.mu.Unlock()
		f(late)
	}
	return lines.Err()
}

// Stop ends the process once it has woken up for all instants.
func (w *Waker) Stop() error {
	return errors.Join(w.in.Close(), <-w.done, w.cmd.Wait())
}

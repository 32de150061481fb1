package simulated

import (
	"bufio"
	"bytes"
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

// StartWaker starts the program, and returns when it has answered: without the right to
// real-time priority it ends at once, and no run would come to its end.
func StartWaker(ctx context.Context, path string) (*Waker, error) {
	w := &Waker{cmd: exec.CommandContext(ctx, path), done: make(chan error, 1), wakes: map[int64]func(late time.Duration){}}
	var said bytes.Buffer
	w.cmd.Stderr = io.MultiWriter(os.Stderr, &said)
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
	answered := make(chan struct{})
	asked := w.At(time.Now(), func(time.Duration) { close(answered) })
	select {
	case <-answered:
		return w, nil
	case err := <-w.done:
		return nil, fmt.Errorf("the waker has ended: %w: %s", errors.Join(err, asked, w.in.Close(), w.cmd.Wait()), bytes.TrimSpace(said.Bytes()))
	}
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

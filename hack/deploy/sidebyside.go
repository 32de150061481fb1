package deploy

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// SideBySide does something for each name at the same time, and returns all errors in the order
// of the names. What is printed comes in whole lines.
func (t Tools) SideBySide(names []string, do func(t Tools, name string) error) error {
	var mu sync.Mutex
	var all sync.WaitGroup
	errs := make([]error, len(names))
	for i, name := range names {
		all.Go(func() {
			out, err := &lines{mu: &mu, to: t.Out}, &lines{mu: &mu, to: t.Err}
			errs[i] = errors.Join(do(Tools{Out: out, Err: err}, name), out.rest(), err.rest())
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// lines writes whole lines, in which no other's are.
type lines struct {
	mu    *sync.Mutex
	to    io.Writer
	begun []byte
}

func (l *lines) Write(p []byte) (int, error) {
	end := bytes.LastIndexByte(p, '\n') + 1
	if end == 0 {
		l.begun = append(l.begun, p...)
		return len(p), nil
	}
	whole := append(l.begun, p[:end]...)
	l.begun = bytes.Clone(p[end:])
	return len(p), l.write(whole)
}

// rest ends a line that did not end.
func (l *lines) rest() error {
	if len(l.begun) == 0 {
		return nil
	}
	return l.write(append(l.begun, '\n'))
}

func (l *lines) write(p []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.to.Write(p)
	return err
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// line waits for a line of what a process logs, which is handed on.
type line struct {
	to   io.Writer
	text string

	mu    sync.Mutex
	rest  []byte // of a line that has not ended
	at    time.Time
	found chan struct{}
}

func newLine(to io.Writer, text string) *line {
	return &line{to: to, text: text, found: make(chan struct{})}
}

// Write takes a part of the log.
func (l *line) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	if l.at.IsZero() && bytes.Contains(l.rest, []byte(l.text)) {
		l.at = time.Now()
		close(l.found)
	}
	l.rest = l.rest[bytes.LastIndexByte(l.rest, '\n')+1:]
	return l.to.Write(b)
}

// within returns when the line was written, as soon as it was.
func (l *line) within(ctx context.Context) (time.Time, error) {
	select {
	case <-l.found:
		return l.at, nil
	case <-ctx.Done():
		return time.Time{}, fmt.Errorf("wait until the operator logs %q: %w", l.text, ctx.Err())
	}
}

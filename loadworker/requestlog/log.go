package requestlog

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// blockSize is what is written at once, and blocks how many wait for it at most: 8
	// MiB, which is a second of 100,000 requests.
	blockSize = 64 << 10
	blocks    = 128
	// maxFile bounds what a worker writes: some 20 million requests. Later ones are
	// missing.
	maxFile = 1 << 30
)

// Log is the record of one worker's requests. It is safe for concurrent use.
type Log struct {
	mu     sync.Mutex
	block  []byte
	size   int64 // of all blocks that were handed over
	closed bool

	full, free chan []byte
	written    chan error // one, when all was written
}

// New returns a Log that writes to w until it is closed.
func New(w io.Writer) *Log {
	l := &Log{
		block: make([]byte, 0, blockSize), full: make(chan []byte, blocks), free: make(chan []byte, blocks),
		written: make(chan error, 1),
	}
	go func() { l.written <- l.write(w) }()
	return l
}

// Create returns a Log that writes to a new file, and what closes both.
func Create(path string) (*Log, func() error, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	l := New(f)
	return l, func() error { return errors.Join(l.Close(), f.Close()) }, nil
}

// Record is a request that has ended.
type Record struct {
	Step int32
	// Sent is the instant at which it was sent, and Latency its service time.
	Sent    time.Time
	Latency time.Duration
	// Code is the status code; 0: there is no whole response.
	Code              int
	BytesIn, BytesOut int64
	// Target is which target it was sent to; 0: that of the step.
	Target int
	Method string
	Path   []byte
	// Error is why it does not count as expected; empty: it does.
	Error string
}

// Add adds a record. It never waits for the file: if blocks are written too slowly, those
// that are full are lost.
func (l *Log) Add(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.block = r.append(l.block)
	if len(l.block) >= blockSize-maxRecord {
		l.handOver()
	}
}

// handOver gives a full block to the writer, and takes an empty one.
func (l *Log) handOver() {
	if l.size += int64(len(l.block)); l.size > maxFile {
		l.block = l.block[:0]
		return
	}
	select {
	case l.full <- l.block:
	default:
		l.block = l.block[:0] // it is lost
		return
	}
	select {
	case b := <-l.free:
		l.block = b[:0]
	default:
		l.block = make([]byte, 0, blockSize)
	}
}

// write writes blocks until the last.
func (l *Log) write(w io.Writer) error {
	var failed error
	for b := range l.full {
		if failed == nil {
			_, failed = w.Write(b)
		}
		select {
		case l.free <- b:
		default:
		}
	}
	return failed
}

// Close writes what is left. Requests that end later are not recorded.
func (l *Log) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		l.full <- l.block // the writer takes one sooner or later
		close(l.full)
	}
	l.mu.Unlock()
	err := <-l.written
	l.written <- err
	return err
}

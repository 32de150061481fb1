package accesslog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// MaxLine is the longest line, in bytes, that is read. URLs of servers have at most 8 to
	// 64 KiB; a longer line counts as one that could not be parsed.
	MaxLine = 64 << 10
	// keptMistakes is how many of the lines that could not be parsed are named.
	keptMistakes = 3
)

// Entry is a request of the log.
type Entry struct {
	// Line is the number of its line, from 1.
	Line int64
	// Time is when it began or ended, as the log has it. It is between 1970 and 2261.
	Time time.Time
	// Method is of upper-case letters.
	Method string
	// Scheme is http or https, and Host the name that was asked, in lower case, with its port
	// unless that is the scheme's; "" if the log does not have them.
	Scheme, Host string
	// Path is the path with the query. It begins with a slash, and has visible characters of
	// ASCII only: all others are percent-encoded. It is valid until the next call of Next, since to copy
	// each would be most of what a line costs the collector of garbage: what keeps it clones it.
	Path string
	// Status is that of the response; 0 if the log does not have it.
	Status int
	// Duration is how long the response took; 0 if the log does not have it.
	Duration time.Duration
}

// Counts say what was read so far.
type Counts struct {
	// Lines are all that are not blank; NotParsed those that are no request.
	Lines, NotParsed int64
	// Mistakes are the first of those.
	Mistakes []Mistake
	// Backwards are the entries with a time before that of an earlier line, and Furthest is by
	// how much at most. Logs have the times at which requests began in the order in which they
	// ended, so that a few seconds are usual.
	Backwards int64
	Furthest  time.Duration
}

// Parsed are the lines that are requests.
func (c *Counts) Parsed() int64 { return c.Lines - c.NotParsed }

// Mistake is a line that could not be parsed. It has nothing of the line itself, which may hold
// a credential.
type Mistake struct {
	Line int64
	Why  string
}

// Reader reads a log.
type Reader struct {
	in     *bufio.Reader
	parser parser
	line   int64
	counts Counts
	latest time.Time
	take   func(line int64) bool // nil: all
	count  func(line int64) bool // nil: all
}

// NewReader reads a log, which gzip may have compressed. Its lines of JSON have the fields of
// a preset, or those that are given. Of an HTTP archive (HAR), each entry counts as a line.
func NewReader(in io.Reader, fields *Fields) (*Reader, error) {
	buffered := bufio.NewReaderSize(in, MaxLine)
	if start, _ := buffered.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) { // how gzip begins
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
		buffered = bufio.NewReaderSize(z, MaxLine)
	}
	if isHAR(buffered) { // its fields have names of their own
		buffered, fields = bufio.NewReaderSize(&har{in: buffered}, MaxLine), nil
	}
	return &Reader{in: buffered, parser: newParser(fields)}, nil
}

// Take has the reader pass over the lines, by number, that it does not choose, as if they were blank:
// that costs less than to parse them. nil chooses all.
func (r *Reader) Take(choose func(line int64) bool) { r.take = choose }

// Count has the reader count only the lines, by number, that are chosen. Next returns the requests of the others as well. nil
// chooses all.
func (r *Reader) Count(choose func(line int64) bool) { r.count = choose }

// RequestsOnly has the reader leave out, of formats of text, what is not part of the request: Duration, and a Host
// that stands elsewhere in the line. That takes less time. Which lines are requests stays the same.
func (r *Reader) RequestsOnly() { r.parser.requestsOnly = true }

// Counts say what was read so far.
func (r *Reader) Counts() Counts { return r.counts }

// Next is the next request. It passes over lines that are none, and counts them. At the end
// the error is io.EOF.
func (r *Reader) Next() (Entry, error) {
	for {
		line, err := r.read()
		if err != nil {
			return Entry{}, err
		}
		if r.take != nil && !r.take(r.line) {
			continue
		}
		tooLong := line == nil
		if line = bytes.TrimSpace(line); len(line) == 0 && !tooLong {
			continue
		}
		var e Entry
		mistake := errTooLong
		if !tooLong {
			mistake = r.parser.parse(line, &e)
		}
		if r.count == nil || r.count(r.line) {
			r.note(&e, mistake)
		}
		if mistake == nil {
			e.Line = r.line
			return e, nil
		}
	}
}

var errTooLong = fmt.Errorf("the line has more than %d bytes", MaxLine)

// read is the next line, which is valid until the next call; nil is one that is too long.
func (r *Reader) read() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if len(line) > 0 {
		r.line++
	}
	tooLong := errors.Is(err, bufio.ErrBufferFull)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.in.ReadSlice('\n')
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("read behind line %d: %w", r.line, err)
	case tooLong:
		return nil, nil
	case len(line) == 0:
		return nil, io.EOF
	}
	return line, nil
}

// note counts a line, which is an entry if it is no mistake.
func (r *Reader) note(e *Entry, mistake error) {
	r.counts.Lines++
	if mistake == nil {
		r.order(e.Time)
		return
	}
	r.counts.NotParsed++
	if len(r.counts.Mistakes) < keptMistakes {
		r.counts.Mistakes = append(r.counts.Mistakes, Mistake{Line: r.line, Why: mistake.Error()})
	}
}

func (r *Reader) order(t time.Time) {
	if !t.Before(r.latest) {
		r.latest = t
		return
	}
	r.counts.Backwards++
	r.counts.Furthest = max(r.counts.Furthest, r.latest.Sub(t))
}

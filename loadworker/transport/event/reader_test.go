package event

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// newReader returns a reader of a response that has begun, whose events are lines.
func newReader(of transport.Stream, deadline time.Duration, w transport.Watcher) *Reader {
	r := &Reader{}
	of.Events = transport.Lines
	r.Begin(&transport.Request{Stream: &of, Watcher: w}, deadline)
	r.Header(200, true)
	return r
}

// at tells of a line that came at an instant.
func (r *Reader) at(line string, now time.Duration) (nearer bool) {
	r.Body([]byte(line + "\n"))
	return r.Tell(0) && r.At(now)
}

func TestLimitIsThatOfTheLastEvent(t *testing.T) {
	const linger = transport.LingerAfterUntil
	for name, tt := range map[string]struct {
		of     transport.Stream
		lines  []string // one each second
		limits []time.Duration
		nearer []bool
		passed error
	}{
		"no stall":             {lines: []string{"a", "b"}, limits: []time.Duration{time.Minute, time.Minute}, nearer: []bool{false, false}, passed: os.ErrDeadlineExceeded},
		"a stall":              {of: transport.Stream{Stall: 5 * time.Second}, lines: []string{"a", "b", ""}, limits: []time.Duration{6 * time.Second, 7 * time.Second, 7 * time.Second}, nearer: []bool{true, false, false}, passed: failure.ErrStalled},
		"one that is too long": {of: transport.Stream{Stall: time.Hour}, lines: []string{"a"}, limits: []time.Duration{time.Minute}, nearer: []bool{false}, passed: os.ErrDeadlineExceeded},
		"one as long as that":  {of: transport.Stream{Stall: 59 * time.Second}, lines: []string{"a"}, limits: []time.Duration{time.Minute}, nearer: []bool{false}, passed: os.ErrDeadlineExceeded},
		"the last event":       {of: transport.Stream{Until: "b"}, lines: []string{"a", "b", "c"}, limits: []time.Duration{time.Minute, 2*time.Second + linger, 2*time.Second + linger}, nearer: []bool{false, true, false}},
		"after a long stall":   {of: transport.Stream{Until: "b", Stall: 20 * time.Second}, lines: []string{"a", "b"}, limits: []time.Duration{21 * time.Second, 2*time.Second + linger}, nearer: []bool{true, true}},
		"after a short stall":  {of: transport.Stream{Until: "b", Stall: time.Second / 2}, lines: []string{"a", "b"}, limits: []time.Duration{1500 * time.Millisecond, 2*time.Second + linger}, nearer: []bool{true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReader(tt.of, time.Minute, nil)
			if r.Limit() != time.Minute {
				t.Errorf("before an event, the limit is %v", r.Limit())
			}
			for i, line := range tt.lines {
				nearer := r.at(line, time.Duration(i+1)*time.Second)
				if r.Limit() != tt.limits[i] || nearer != tt.nearer[i] {
					t.Errorf("after %q, the limit is %v, nearer %v; want %v, %v", line, r.Limit(), nearer, tt.limits[i], tt.nearer[i])
				}
			}
			if err := r.Passed(); !errors.Is(err, tt.passed) || r.Streamed().Left != (tt.passed == nil) {
				t.Errorf("when it passes, %v, left %v; want %v", err, r.Streamed().Left, tt.passed)
			}
		})
	}
}

// A response that breaks off has succeeded only after its last event, and only if it was the server's end.
func TestBrokenResponses(t *testing.T) {
	for name, tt := range map[string]struct {
		last bool
		err  error
		want bool
	}{
		"the end":                      {true, io.ErrUnexpectedEOF, true},
		"a reset":                      {true, &failure.Error{Phase: failure.Reading, Err: syscall.ECONNRESET}, true},
		"cancelled":                    {true, failure.ErrCancelled, true},
		"the end, before the last one": {false, io.ErrUnexpectedEOF, false},
		"no HTTP":                      {true, &failure.Error{Phase: failure.Reading, Err: errors.New("malformed")}, false},
		"interrupted":                  {true, failure.ErrInterrupted, false},
		"a timeout":                    {true, os.ErrDeadlineExceeded, false},
		"no error":                     {true, nil, false},
	} {
		r := newReader(transport.Stream{Until: "b"}, time.Minute, nil)
		r.at("a", 1)
		if tt.last {
			r.at("b", 2)
		}
		if got := r.Broken(tt.err); got != tt.want || r.Streamed().Left != tt.want {
			t.Errorf("%s: %v, left %v; want %v", name, got, r.Streamed().Left, tt.want)
		}
	}
}

// Of a request whose response is no stream, there is no reader.
func TestNoReaderReadsNothing(t *testing.T) {
	var r *Reader
	if r.Streamed() != (transport.Streamed{}) || r.Broken(io.ErrUnexpectedEOF) {
		t.Error("something came")
	}
}

package groundtruth

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxEvents bounds a stream that ends, as one without gaps is written without a rest.
	maxEvents = 1_000_000
	// maxSchedule bounds each of its times.
	maxSchedule = 24 * time.Hour
)

// parseStream reads EVENTS:FIRST:EVERY[:JITTER][:OPTION]..., see ParseReply.
func parseStream(r *reader) *Stream {
	s := &Stream{Format: SSE, LineEnd: "\n", Events: Endless}
	if events := r.next(); events != "endless" {
		s.Events = r.within(events, 0, maxEvents)
	}
	s.First, s.Every = r.duration(), r.duration()
	if len(r.fields) > 0 && isNumber(r.fields[0]) {
		s.Jitter = r.duration()
	}
	for len(r.fields) > 0 && r.err == nil {
		s.option(r)
	}
	if r.err == nil {
		r.fail(s.check())
	}
	return s
}

func isNumber(text string) bool { return text != "" && text[0] <= '9' }

// option reads name or name=value.
func (s *Stream) option(r *reader) {
	name, value, found := strings.Cut(r.next(), "=")
	values := &reader{fields: strings.Split(value, ",")}
	if !found {
		values.fields = nil
	}
	switch name {
	case "format":
		s.Format = values.format()
	case "stall":
		s.StallAfter, s.Stall = values.event(s), values.duration()
	case "reset":
		s.Break, s.BreakAfter = Abort, values.position(s)
	case "close":
		s.Break, s.BreakAfter = Close, values.position(s)
	case "unended":
		s.Unended = true
	case "pieces":
		s.Piece = values.duration()
		if s.Piece == 0 {
			values.fail(errors.New("must be more than 0"))
		}
	case "large":
		s.Large, s.LargeOf = values.event(s), values.count()
	case "invalid":
		s.Invalid = values.event(s)
	case "gzip":
		s.Gzip = true
	default:
		s.appearance(name, r)
	}
	if err := values.end(); err != nil {
		r.fail(fmt.Errorf("option %s: %w", name, err))
	}
}

// appearance reads an option of how server-sent events look.
func (s *Stream) appearance(name string, r *reader) {
	switch name {
	case "comments":
		s.Comments = true
	case "crlf":
		s.LineEnd = "\r\n"
	case "cr":
		s.LineEnd = "\r"
	case "bom":
		s.ByteOrderMark = true
	case "completion":
		s.Completion = true
	default:
		r.fail(fmt.Errorf("%q is no option of a stream: must be format, stall, reset, close, unended, pieces, large, invalid, gzip, comments, crlf, cr, bom or completion", name))
	}
}

// check refuses options that contradict each other.
func (s *Stream) check() error {
	switch {
	case max(s.First, s.Every, s.Jitter, s.Stall, s.Piece) > maxSchedule:
		return fmt.Errorf("no time of a stream may be longer than %v", maxSchedule)
	case s.Events == Endless && s.Every == 0:
		return errors.New("a stream without an end must have a time between its events")
	case s.Events == Endless && s.Unended:
		return errors.New("unended must not be set for a stream without an end")
	case s.Break != Keep && s.Unended:
		return errors.New("unended must not be set beside reset or close")
	case s.Gzip && s.ByteOrderMark:
		return errors.New("bom must not be set beside gzip")
	case s.Piece > 0 && s.Large > 0:
		return errors.New("large must not be set beside pieces")
	case s.Completion && (s.Large > 0 || s.Invalid > 0):
		return errors.New("large and invalid must not be set beside completion")
	}
	return s.checkFormat()
}

// checkFormat refuses options that its format does not have.
func (s *Stream) checkFormat() error {
	switch {
	case s.Format != SSE && s.looksAsSSE():
		return fmt.Errorf("comments, cr, bom and completion must not be set for the format %s", s.Format)
	case s.Format != SSE && s.Format != Lines && s.LineEnd != "\n":
		return fmt.Errorf("crlf must not be set for the format %s", s.Format)
	case s.Format == WebSocket && (s.Gzip || s.Piece > 0):
		return errors.New("gzip and pieces must not be set for the format websocket")
	case s.Format == Messages && s.Gzip:
		return errors.New("gzip must not be set for the format grpc")
	case s.Format == Messages && s.Invalid > 0:
		return errors.New("invalid must not be set for the format grpc")
	}
	return nil
}

// looksAsSSE says that it has what server-sent events alone can have.
func (s *Stream) looksAsSSE() bool {
	return s.Comments || s.ByteOrderMark || s.Completion || s.LineEnd == "\r"
}

// complete gives what is absent its default.
func (s Stream) complete() *Stream {
	s.Format, s.LineEnd = cmp.Or(s.Format, SSE), cmp.Or(s.LineEnd, "\n")
	return &s
}

func (r *reader) format() Format {
	f := Format(r.next())
	if !slices.Contains([]Format{SSE, Lines, Chunks, Messages, WebSocket}, f) {
		r.fail(fmt.Errorf("%q must be sse, lines, chunks, grpc or websocket", f))
	}
	return f
}

// event is the number of an event that a stream has.
func (r *reader) event(s *Stream) int { return r.within(r.next(), 1, s.most()) }

// position is the same, or 0 for before the first.
func (r *reader) position(s *Stream) int { return r.within(r.next(), 0, s.most()) }

// most is the highest number of an event that an option may name.
func (s *Stream) most() int {
	if s.Events == Endless {
		return maxEvents
	}
	return s.Events
}

func (r *reader) within(text string, least, most int) int {
	n, err := strconv.Atoi(text)
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("%d is not from %d to %d", n, least, most)
	}
	if err != nil {
		r.fail(err)
		return 0
	}
	return n
}

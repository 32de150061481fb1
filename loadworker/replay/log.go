package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/accesslog"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Config is what of a log is sent, and when.
type Config struct {
	File string
	// Fields are the fields of a log in JSON; nil: the ones that are known.
	Fields *accesslog.Fields
	// Start is when the window of the log begins; zero: with the first request.
	Start time.Time
	// Speed is how many millionths of the time of the log pass in the time of the step.
	Speed int64
	// Duration is how long the step lasts.
	Duration time.Duration
	// Methods are sent.
	Methods []string
	// Routes are tried in their order.
	Routes []Route
	// Worker is this one's number, of so many.
	Worker, Workers int32
	// MaxRate is the most requests per 1,000,000 seconds of all workers; 0: no bound.
	MaxRate int64
	// Requests is how many requests the mix has.
	Requests int
}

// Route is which request of the mix a line is.
type Route struct {
	Path *regexp.Regexp
	// Host is that of the lines; "": any.
	Host string
	// To goes instead of what Path matches, as in regexp.Expand; "": nothing does.
	To      string
	Request int
}

// path is what is sent of the path of a line; ok is false if what it becomes cannot be sent.
func (r *Route) path(line string) (path string, ok bool) {
	if r.To == "" {
		return line, true
	}
	path = r.Path.ReplaceAllString(line, r.To)
	return path, strings.HasPrefix(path, "/") && len(path) <= accesslog.MaxLine && !strings.ContainsFunc(path, invisible)
}

// invisible says whether a character ends a path, or cannot stand in one.
func invisible(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }

// Check refuses what cannot be replayed.
func (c Config) Check() error {
	switch {
	case c.File == "":
		return errors.New("file: there must be one")
	case c.Speed < 1:
		return fmt.Errorf("speed: must be positive, is %d millionths", c.Speed)
	case c.Duration <= 0 || c.Duration > maxDuration:
		return fmt.Errorf("duration: must be positive and at most %v, is %v", maxDuration, c.Duration)
	case len(c.Methods) == 0 || slices.Contains(c.Methods, "CONNECT"):
		return errors.New("methods: there must be at least one, and CONNECT cannot be sent")
	case len(c.Routes) == 0:
		return errors.New("routes: there must be at least one")
	case c.Workers < 1 || c.Worker < 0 || c.Worker >= c.Workers:
		return fmt.Errorf("worker %d is not one of %d", c.Worker, c.Workers)
	}
	for i, r := range c.Routes {
		if r.Path == nil || r.Request < 0 || r.Request >= c.Requests {
			return fmt.Errorf("routes[%d]: needs a path, and one of %d requests", i, c.Requests)
		}
	}
	return nil
}

// Request is a line that is to be sent.
type Request struct {
	// Due is when, since the beginning of the step's window.
	Due time.Duration
	// Method and Path are as in accesslog.Entry.
	Method, Path string
	// Index is that of the request of the mix.
	Index int
	// Line is the number of the line, from 1.
	Line int64
}

// requestBytes is about what a request takes beside its path.
const requestBytes = 128

// size is what a request takes. The allocator rounds a path up by an eighth at most.
func (r *Request) size() int64 { return requestBytes + int64(len(r.Path)+len(r.Path)/8) }

// Log is an access log. Its methods may be called by several goroutines, once it is surveyed.
type Log struct {
	config Config
	paths  []pattern // by route
	origin time.Time // of the window
	size   int64     // of the file, when it was surveyed
	survey *Survey

	mu     sync.Mutex
	primed *Stream // nil: there is none
	closed bool
}

// New returns a log that is to be surveyed.
func New(c Config) (*Log, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	l := &Log{config: c, paths: make([]pattern, len(c.Routes))}
	for i := range c.Routes {
		l.paths[i] = newPattern(c.Routes[i].Path)
	}
	return l, nil
}

// Duration is how long the step lasts.
func (l *Log) Duration() time.Duration { return l.config.Duration }

// Survey is what is known of the worker's lines; nil: the log is not surveyed yet.
func (l *Log) Survey() *Survey { return l.survey }

// Read surveys the log. marks are the instants of the step, ascending, at which due counts are to be
// exact. progress is told how many bytes of how many were read. Its error names what to change, and
// shows nothing of a line.
func (l *Log) Read(ctx context.Context, marks []time.Duration, progress func(read, size int64)) error {
	info, err := os.Stat(l.config.File)
	switch {
	case err != nil:
		return fmt.Errorf("read the log: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("read the log: %s is not a file", l.config.File)
	}
	l.size = info.Size()
	if l.origin, err = l.begins(ctx); err != nil {
		return err
	}
	s := newSurvey(marks, l.config.Requests)
	r, rate := reading{worker: l.config.Worker, workers: l.config.Workers, progress: func(read int64) { progress(read, l.size) }}, l.newRateCheck()
	if l.config.MaxRate > 0 {
		r.all = rate.ofAll
	}
	r.queue = &order{most: orderRequests, emit: func(r *Request) error {
		s.add(r)
		return rate.ofOwn(r, s)
	}}
	if s.Lines, err = l.pass(ctx, r); err != nil {
		return err
	}
	s.end()
	if s.behind = r.queue.behind; s.Due() == 0 {
		if err := l.checkAny(ctx); err != nil {
			return err
		}
	}
	l.survey = s
	return nil
}

// errEnough ends a pass.
var errEnough = errors.New("enough")

// checkAny refuses a log of which no worker sends anything.
func (l *Log) checkAny(ctx context.Context) error {
	lines, err := l.pass(ctx, reading{workers: 1, queue: &order{most: orderRequests, emit: func(*Request) error { return errEnough }}})
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err != nil:
		return err
	}
	until := "beyond all time"
	if end, ok := l.ends(); ok {
		until = end.UTC().Format(time.RFC3339)
	}
	return fmt.Errorf("no request of the log is to be sent: of %d lines, %d are no request, %d have another method than spec.replay.methods, "+
		"%d match none of spec.replay.routes, %d are not in the window from %s to %s (spec.replay.start, and duration x speed), and %d are out of order",
		lines.Lines, lines.NotParsed, lines.OtherMethods, lines.NotRouted, lines.OutsideWindow, l.origin.UTC().Format(time.RFC3339), until, lines.OutOfOrder)
}

// ends is when the window of the log ends; ok is false if that is beyond all time.
func (l *Log) ends() (at time.Time, ok bool) {
	hi, lo := bits.Mul64(uint64(l.config.Duration), uint64(l.config.Speed))
	if hi >= micro {
		return at, false
	}
	n, _ := bits.Div64(hi, lo, micro)
	if n > math.MaxInt64 {
		return at, false
	}
	return l.origin.Add(time.Duration(n)), true
}

// begins is when the window of the log begins. It reads the beginning of the log, all of its lines,
// so that all workers have the same.
func (l *Log) begins(ctx context.Context) (time.Time, error) {
	in, err := l.open(ctx, nil)
	if err != nil {
		return time.Time{}, err
	}
	defer in.close()
	var first time.Time
	for range orderRequests {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return first, fmt.Errorf("read the log: %w", err)
		}
		if first.IsZero() || e.Time.Before(first) {
			first = e.Time
		}
	}
	counts := in.Counts()
	switch {
	case counts.Lines == 0:
		return first, errors.New("the log is empty")
	case counts.Parsed() == 0:
		return first, fmt.Errorf("no line of the log is a request: line %d: %s", counts.Mistakes[0].Line, counts.Mistakes[0].Why)
	case !l.config.Start.IsZero():
		return l.config.Start, nil
	}
	return first, nil
}

// input is the file, from its beginning.
type input struct {
	*accesslog.Reader
	file *os.File
	read int64
}

func (i *input) close() { _ = i.file.Close() }

// open opens the file; take chooses the lines, nil all. It ends with ctx.
func (l *Log) open(ctx context.Context, take func(line int64) bool) (*input, error) {
	f, err := os.Open(l.config.File)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	in := &input{file: f}
	in.Reader, err = accesslog.NewReader(&bounded{ctx: ctx, in: io.LimitReader(f, l.size), read: &in.read}, l.config.Fields)
	if err != nil {
		in.close()
		return nil, fmt.Errorf("read the log: %w", err)
	}
	in.Take(take)
	if !slices.ContainsFunc(l.config.Routes, func(r Route) bool { return r.Host != "" }) {
		in.RequestsOnly()
	}
	return in, nil
}

// bounded reads until a context ends, and counts the bytes.
type bounded struct {
	ctx  context.Context
	in   io.Reader
	read *int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.in.Read(p)
	*b.read += int64(n)
	return n, err
}

// ours says whether a line is of a worker. A hash, and no remainder, divides the lines: a log may
// have a pattern, such as an asset after each page.
func ours(line int64, worker, workers int32) bool {
	x := uint64(line) // SplitMix64
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return x%uint64(workers) == uint64(worker)
}

// progressEvery is after how many lines progress is told.
const progressEvery = 1 << 16

// reading is what a pass over a log is for.
type reading struct {
	// The lines of one of so many workers are read.
	worker, workers int32
	// queue emits what is to be sent of them, in the order of the due times.
	queue *order
	// all is told when each request is due, of all workers, in the order of the log; nil: lines of other workers are passed over.
	all func(due time.Duration) error
	// progress is told how many bytes were read; nil: nothing is.
	progress func(read int64)
}

// isOwn says whether a line is read for the worker itself.
func (r *reading) isOwn(line int64) bool { return ours(line, r.worker, r.workers) }

// pass reads a log. It ends with the error that emit or all returns. What it counts are lines of the worker.
func (l *Log) pass(ctx context.Context, r reading) (lines measure.Replay, err error) {
	take := r.isOwn
	if r.all != nil {
		take = nil
	}
	in, err := l.open(ctx, take)
	if err != nil {
		return lines, err
	}
	defer in.close()
	in.Count(r.isOwn)
	behind := 0
	for n := int64(1); behind < orderRequests; n++ {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return lines, fmt.Errorf("read the log: %w", err)
		}
		if r.progress != nil && n%progressEvery == 0 {
			r.progress(in.read)
		}
		after, err := l.line(&e, &r, &lines)
		switch {
		case err != nil:
			return lines, err
		case !r.isOwn(e.Line):
		case after:
			behind++
		default:
			behind = 0
		}
	}
	counts := in.Counts()
	if lines.Lines, lines.NotParsed = counts.Lines, counts.NotParsed; lines.NotParsed > 0 {
		lines.Mistake = fmt.Sprintf("line %d: %s", counts.Mistakes[0].Line, counts.Mistakes[0].Why)
	}
	return lines, r.queue.drain()
}

// line reads one entry. after says that it is behind the window.
func (l *Log) line(e *accesslog.Entry, r *reading, lines *measure.Replay) (after bool, err error) {
	var ofOthers measure.Replay
	isOwn := r.isOwn(e.Line)
	if !isOwn {
		lines = &ofOthers
	}
	request, send, after := l.request(e, lines)
	if send && r.all != nil {
		err = r.all(request.Due)
	}
	if send && isOwn && err == nil {
		err = r.queue.put(&request, lines)
	}
	return after, err
}

// request is what is sent of an entry. If nothing is, send is false, and it is counted. after says that
// the entry is behind the window.
func (l *Log) request(e *accesslog.Entry, lines *measure.Replay) (r Request, send, after bool) {
	due, ok := l.due(e.Time)
	after = !ok && !e.Time.Before(l.origin)
	switch {
	case !ok:
		lines.OutsideWindow++
	case !slices.Contains(l.config.Methods, e.Method):
		lines.OtherMethods++
	default:
		if i := l.route(e); i >= 0 {
			route := &l.config.Routes[i]
			if path, ok := route.path(e.Path); ok {
				return Request{Due: due, Method: e.Method, Path: path, Index: route.Request, Line: e.Line}, true, after
			}
		}
		lines.NotRouted++
	}
	return r, false, after
}

// route is the index of the route of an entry; -1: there is none.
func (l *Log) route(e *accesslog.Entry) int {
	for i := range l.config.Routes {
		r := &l.config.Routes[i]
		if (r.Host == "" || r.Host == e.Host) && l.paths[i].match(e.Path) {
			return i
		}
	}
	return -1
}

// micro is how many parts a speed of 1 has.
const micro = 1_000_000

// due is when an instant of the log is due, rounded down to a nanosecond; ok is false outside of the
// window.
func (l *Log) due(at time.Time) (due time.Duration, ok bool) {
	after := at.Sub(l.origin)
	if after < 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(after), micro)
	if hi >= uint64(l.config.Speed) {
		return 0, false
	}
	n, _ := bits.Div64(hi, lo, uint64(l.config.Speed))
	return time.Duration(n), n < uint64(l.config.Duration)
}

package attack

import (
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http2"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// Recorded are the requests of a log, which come at their times, whether or not earlier ones were
// answered. The share of such a step has no numbers: the log knows which lines are the worker's.
type Recorded struct {
	// Log must be surveyed, with the Marks of Duration, before the step is prepared.
	Log      *replay.Log
	Duration time.Duration
}

var _ Load = Recorded{}

func (l Recorded) length() time.Duration { return l.Duration }

func (l Recorded) check() error {
	if l.Log == nil {
		return errors.New("there is no log to be replayed")
	}
	return nil
}

// evenMarks is into how many equal parts marks divide a window at least: between two marks, the due
// counts of a step that runs, or was cut, are not exact.
const evenMarks = 2048

// Marks are the instants of a window of that length at which due counts are to be exact: the ends of
// the slots of a timeline and of the points of a series, of others, and of the window. They ascend.
func Marks(length time.Duration) []time.Duration {
	seen := map[time.Duration]bool{length: true}
	slots := course{window: length}
	for slot := range measure.TimelineSlots {
		seen[slots.endOf(slot)] = true
	}
	for i := range measure.Points(length) {
		seen[measure.PointWidth(length)*time.Duration(i+1)] = true
	}
	for i := range evenMarks {
		seen[time.Duration(float64(length)*float64(i+1)/evenMarks)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func (l Recorded) schedule(_ StepShare, c Config) schedule {
	survey := l.Log.Survey()
	a := &arrivals{
		dueTimes: recordedTimes{survey, c.Source.Len()}, duration: l.Duration, perSec: float64(survey.PeakPerSecond),
		log: &recordedLog{log: l.Log, survey: survey},
	}
	// As many can be in flight as are due within a timeout: in each second of it, as many as in the
	// worst one. How they are divided between the parts is not known.
	seconds := math.Ceil(c.longest().Seconds()) + 1
	a.limit = maxInFlight(a.perSec*seconds*float64(processors()), false, c.MaxConnections)
	if client, ok := c.Client.(*http2.Client); ok {
		a.shared = client.Shared()
	}
	return a
}

// recordedTimes are when the requests of a log are due, as far as they are counted.
type recordedTimes struct {
	survey   *replay.Survey
	requests int
}

var _ pace.Schedule = recordedTimes{}

// Due is never: the stream of the log has the instants.
func (recordedTimes) Due(int64) time.Duration { return never }

// Before returns how many requests are due before t.
func (r recordedTimes) Before(t time.Duration) (n int64) {
	if t <= 0 {
		return 0
	}
	for i := range r.requests {
		n += r.survey.Before(i, t)
	}
	return n
}

// recordedLog is the log of a step, which is read from when the first part of it is made.
type recordedLog struct {
	log    *replay.Log
	survey *replay.Survey
	once   sync.Once
	stream *replay.Stream

	mu  sync.Mutex
	err error // why the log was not read to the end of the window
}

func (r *recordedLog) read() *replay.Stream {
	r.once.Do(func() { r.stream = r.log.Stream() })
	return r.stream
}

// close ends the reader.
func (r *recordedLog) close() {
	err := r.read().Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// lines are what became of the lines.
func (r *recordedLog) lines() *measure.Replay {
	lines := r.survey.Lines
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		lines.Mistake = "not all was sent: " + r.err.Error()
	}
	return &lines
}

// tallyDue adds the requests that are due before t.
func (r *recordedLog) tallyDue(t time.Duration, to *source.Tally) {
	for i := range to.Requests() {
		to.AddOf(i, r.survey.Before(i, t))
	}
}

// recordedFeed feeds a scheduler with requests of a log. All parts take from one stream: the next
// request is of the part that has taken it, which then waits until it is due.
type recordedFeed struct {
	arrivalFeed
	stream *replay.Stream
	line   replay.Request // the next hit
	isRead bool           // line is; else it was not read yet
}

var _ feed = (*recordedFeed)(nil)

// lookAgain is after how long a feed looks again for a request that was not read yet. The reader is
// ahead of the step, unless this machine is busy.
const lookAgain = 500 * time.Microsecond

func (f *recordedFeed) next() (time.Duration, bool) {
	if !f.isRead && f.at != never && !f.read() {
		now := f.sched.x.elapsed()
		if now >= f.arrivals.duration {
			f.at = never // what is not read yet is not sent any more
			return never, false
		}
		return now + lookAgain, true
	}
	return f.arrivalFeed.next()
}

// read takes the next request; it returns false if it was not read yet.
func (f *recordedFeed) read() bool {
	ok, ended := f.stream.Take(&f.line)
	switch {
	case ended:
		f.at = never
	case !ok:
		return false
	default:
		f.at, f.isRead = f.line.Due, true
	}
	return true
}

func (f *recordedFeed) take() *connSlot {
	c := f.occupy()
	if c.line == nil {
		c.line = &replay.Request{}
	}
	*c.line = f.line
	f.isRead, f.n = false, f.n+f.sched.parts
	return c
}

func (f *recordedFeed) render(c *connSlot, b *source.Buffer) {
	x, r := f.sched.x, c.line
	c.hit.request, c.hit.head = r.Index, r.Method == "HEAD"
	x.source.Render(b, r.Index, source.Vars{
		Seq: r.Line, Worker: x.runner.config.Worker, Step: x.step.Index, Order: source.Order{N: c.hit.number, Streams: 1},
		Redirect: c.hit.redirect, Method: r.Method, Path: r.Path,
	})
}

func (f *recordedFeed) stop() {
	f.isRead = false
	f.arrivalFeed.stop()
}

package setup

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// WarmUp fills the target's caches and connection pools.
type WarmUp struct {
	// Request is the index of the request.
	Request int
	// Duration is for how long it is sent.
	Duration time.Duration
	// Lines is over how many connections; at most MaxLines.
	Lines int
}

// MaxLines bounds the connections of a warm-up: more would be a load test.
const MaxLines = 64

// failedPause is how long a line waits after a request without an answer.
const failedPause = 100 * time.Millisecond

// Check refuses a warm-up that could not be sent.
func (w WarmUp) Check(c Config) error {
	if w.Request < 0 || w.Request >= c.Source.Len() {
		return fmt.Errorf("setup.warmUp.request: there is no request %d", w.Request)
	}
	return nil
}

// Run sends as fast as replies come, until the time is over or ctx ends. What it
// is answered does not matter.
func (w WarmUp) Run(ctx context.Context, c Config) {
	ctx, cancel := context.WithTimeout(ctx, w.Duration)
	defer cancel()
	n := int64(max(1, min(w.Lines, MaxLines)))
	var group sync.WaitGroup
	for lane := range n {
		group.Go(func() { w.send(ctx, c, lane, n) })
	}
	group.Wait()
}

// send sends over one of n lines.
func (w WarmUp) send(ctx context.Context, c Config, lane, n int64) {
	line := c.Client.NewConn()
	defer line.Close()
	defer context.AfterFunc(ctx, line.Interrupt)()
	var buffer source.Buffer
	for k := int64(0); ctx.Err() == nil; k++ {
		c.Source.Render(&buffer, w.Request, source.Vars{
			User: lane, Seq: (k*n+lane)*int64(c.Workers) + int64(c.Worker), Worker: c.Worker, Step: warmUpStep,
			Order: source.Order{N: k, Stream: lane, Streams: n},
		})
		if _, err := line.Do(ctx, &buffer.Request, time.Now().Add(c.Timeout)); err != nil {
			select {
			case <-time.After(failedPause):
			case <-ctx.Done():
			}
		}
	}
}

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
	// Duration is how long it is sent.
	Duration time.Duration
	// Connections is the number of connections, at most MaxConnections.
	Connections int
}

// MaxConnections bounds the connections of a warm-up: more would be a load test.
const MaxConnections = 64

// failedPause is how long a connection waits after a request without a response.
const failedPause = 100 * time.Millisecond

// Check refuses a warm-up that could not be sent.
func (w WarmUp) Check(c Config) error {
	if w.Request < 0 || w.Request >= c.Source.Len() {
		return fmt.Errorf("setup.warmUp.request: there is no request %d", w.Request)
	}
	return checkAlone("warmUp", c, w.Request)
}

// Run sends the request again as soon as it is answered, until the duration or ctx
// ends. It accepts any response.
func (w WarmUp) Run(ctx context.Context, c Config) {
	ctx, cancel := context.WithTimeout(ctx, w.Duration)
	defer cancel()
	n := int64(max(1, min(w.Connections, MaxConnections)))
	var group sync.WaitGroup
	for user := range n {
		group.Go(func() { w.send(ctx, c, user, n) })
	}
	group.Wait()
}

// send sends over one of n connections.
func (w WarmUp) send(ctx context.Context, c Config, user, n int64) {
	conn := c.Client.NewConn()
	defer conn.Close()
	defer context.AfterFunc(ctx, conn.Interrupt)()
	var buffer source.Buffer
	for k := int64(0); ctx.Err() == nil; k++ {
		c.Source.Render(&buffer, w.Request, source.Vars{
			User: user, Seq: (k*n+user)*int64(c.Workers) + int64(c.Worker), Worker: c.Worker, Step: warmUpStep,
			Order: source.Order{N: k, Stream: user, Streams: n},
		})
		if _, err := conn.Do(ctx, &buffer.Request, time.Now().Add(c.Source.Timeout(w.Request, c.Timeout))); err != nil {
			select {
			case <-time.After(failedPause):
			case <-ctx.Done():
			}
		}
	}
}

package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/outage"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/retry"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

const (
	defaultBuffer = 100_000
	defaultWait   = 250 * time.Millisecond
	// sendTimeout bounds one attempt to send a batch.
	sendTimeout = 5 * time.Second
	// maxTogether bounds a batch, which delays all other commands.
	maxTogether = 256
)

// QueueConfig says how many clicks wait for Redis, and how long redirects do.
type QueueConfig struct {
	// Buffer is how many clicks are kept in memory while Redis does not answer;
	// 0 is 100,000, about 20 MB.
	Buffer int
	// Wait is how long a redirect waits for Redis to have its click; 0 is
	// 250ms. Once Redis did not answer, no redirect waits until it does again.
	Wait time.Duration
	// Rescue stores clicks that Redis does not have when their redirects are
	// answered; nil stores none.
	Rescue shortener.ClickStore
	Count  shortener.Count
	Log    *slog.Logger
}

func (c QueueConfig) validate() error {
	var errs []error
	if c.Buffer < 0 {
		errs = append(errs, fmt.Errorf("buffer of clicks is %d: use 1 or more, or 0 for %d", c.Buffer, defaultBuffer))
	}
	if c.Wait < 0 {
		errs = append(errs, fmt.Errorf("wait for a click to be queued is %v: use a positive time", c.Wait))
	}
	if c.Count == nil || c.Log == nil {
		errs = append(errs, errors.New("queue of clicks: Count and Log are required"))
	}
	return errors.Join(errs...)
}

// Queue sends clicks to Redis, many at a time, one batch after the other.
type Queue struct {
	config QueueConfig
	redis  *redis.Client
	outage *outage.Gate

	buffer chan *queued
	// closing is closed when no more clicks come; sending is done when every
	// click has been sent or given up.
	closing chan struct{}
	close   sync.Once
	sending sync.WaitGroup
	abort   context.CancelFunc
	// unsent are the clicks of the last batch that were given up; it is written
	// before sending is done, and read after.
	unsent []*queued
}

// queued is a click in flight; sent is closed when Redis has it. A rescued click
// stays queued: if it is not sent, nothing is lost.
type queued struct {
	click   shortener.Click
	sent    chan struct{}
	rescued atomic.Bool
}

var _ shortener.Clicks = (*Queue)(nil)

// NewQueue returns a queue that sends until it is closed.
func NewQueue(client *Client, config QueueConfig) (*Queue, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.Buffer == 0 {
		config.Buffer = defaultBuffer
	}
	if config.Wait == 0 {
		config.Wait = defaultWait
	}
	ctx, abort := context.WithCancel(context.Background())
	q := &Queue{
		config:  config,
		redis:   client.redis,
		outage:  outage.New(config.Wait, time.After),
		buffer:  make(chan *queued, config.Buffer),
		closing: make(chan struct{}),
		abort:   abort,
	}
	q.sending.Go(func() { q.run(ctx) })
	return q, nil
}

// Clicked queues a click. It never fails: a click that finds the buffer full, and
// is not rescued, is counted as lost. A canceled redirect needs no rescue: no reply
// confirms its click.
func (q *Queue) Clicked(ctx context.Context, c shortener.Click) error {
	item := &queued{click: c, sent: make(chan struct{})}
	select {
	case q.buffer <- item:
	default:
		if !shortener.Rescue(ctx, q.config.Rescue, c, q.config.Count) {
			q.config.Count(shortener.ClickLost, 1)
		}
		return nil
	}
	q.config.Count(shortener.ClickQueued, 1)
	if !q.outage.Wait(ctx, item.sent) && ctx.Err() == nil {
		item.rescued.Store(shortener.Rescue(ctx, q.config.Rescue, c, q.config.Count))
	}
	return nil
}

// Close sends the buffered clicks until ctx ends; the rest is lost, and counted and
// logged as lost. No redirect may be answered any more.
func (q *Queue) Close(ctx context.Context) error {
	q.close.Do(func() { close(q.closing) })
	defer context.AfterFunc(ctx, q.abort)()
	q.sending.Wait()
	q.abort()
	left := q.unsent
	for len(q.buffer) > 0 {
		left = append(left, <-q.buffer)
	}
	lost := len(slices.DeleteFunc(left, func(item *queued) bool { return item.rescued.Load() }))
	if q.unsent = nil; lost > 0 {
		q.config.Count(shortener.ClickLost, lost)
		return fmt.Errorf("close queue of clicks: %d clicks were not sent in time", lost)
	}
	return nil
}

// run sends batch after batch until there is none, or ctx ends.
func (q *Queue) run(ctx context.Context) {
	for {
		batch := q.next()
		if len(batch) == 0 {
			return
		}
		if q.unsent = q.send(ctx, batch); len(q.unsent) > 0 {
			return
		}
	}
}

// next returns the clicks that are buffered, at least one, or none when the
// queue is closed and empty.
func (q *Queue) next() []*queued {
	var batch []*queued
	select {
	case item := <-q.buffer:
		batch = append(batch, item)
	case <-q.closing:
	}
	// Redirects that are ready to run add their clicks to the batch.
	runtime.Gosched()
	for len(batch) < maxTogether {
		select {
		case item := <-q.buffer:
			batch = append(batch, item)
		default:
			return batch
		}
	}
	return batch
}

// send retries until the batch is sent or ctx ends, and returns the unsent rest. An
// attempt whose reply was lost may have succeeded: those clicks arrive twice, and
// the consumer's store drops the duplicates by their ids.
func (q *Queue) send(ctx context.Context, batch []*queued) []*queued {
	_ = retry.Until(q.config.Log, "send clicks to redis")(ctx, func(ctx context.Context) (err error) {
		if batch, err = q.try(ctx, batch); err != nil {
			err = fmt.Errorf("%d clicks, %d behind them: %w", len(batch), len(q.buffer), err)
		}
		return err
	})
	return batch
}

// try sends the batch once, and returns those that Redis did not take, and why.
func (q *Queue) try(ctx context.Context, batch []*queued) (left []*queued, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	replies := make([]*redis.StringCmd, len(batch))
	_, err = q.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, item := range batch {
			replies[i] = p.XAdd(ctx, encodeClick(item.click))
		}
		return nil
	})
	for i, item := range batch {
		// An entry's id in the reply is the only sign that it is there.
		if replies[i].Val() == "" {
			left = append(left, item)
			continue
		}
		close(item.sent)
	}
	if len(left) > 0 {
		q.outage.Down()
	} else {
		q.outage.Up()
	}
	return left, err
}

package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/outage"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

const (
	defaultBuffer = 100_000
	defaultWait   = 250 * time.Millisecond
)

// ProducerConfig says how many clicks wait for a broker, and how long
// redirects do.
type ProducerConfig struct {
	Config
	// Buffer is how many clicks are kept in memory while no broker answers; 0
	// is 100,000, about 50 MB.
	Buffer int
	// Wait is how long a redirect waits for a broker to have its click; 0 is
	// 250ms. Once no broker did, no redirect waits until one does again.
	Wait time.Duration
	// Rescue stores clicks that no broker has when their redirects are answered;
	// nil stores none.
	Rescue shortener.ClickStore
	Count  shortener.Count
}

func (c ProducerConfig) validate() error {
	errs := []error{c.Config.validate()}
	if c.Buffer < 0 {
		errs = append(errs, fmt.Errorf("buffer of clicks is %d: use 1 or more, or 0 for %d", c.Buffer, defaultBuffer))
	}
	if c.Wait < 0 {
		errs = append(errs, fmt.Errorf("wait for a click to be queued is %v: use a positive time", c.Wait))
	}
	if c.Count == nil {
		errs = append(errs, errors.New("producer of clicks: Count is required"))
	}
	return errors.Join(errs...)
}

// Producer sends clicks to the topic.
type Producer struct {
	config ProducerConfig
	client *kgo.Client
	outage *outage.Gate

	// buffered is how many clicks were accepted and not settled; unsettled
	// waits for them.
	buffered  atomic.Int64
	unsettled sync.WaitGroup
	lost      atomic.Int64

	stop    context.CancelFunc
	creator sync.WaitGroup
}

var _ shortener.Clicks = (*Producer)(nil)

// NewProducer returns a producer that sends until it is closed. It needs no
// broker yet, and creates the topic when there is one.
func NewProducer(config ProducerConfig) (*Producer, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.Buffer == 0 {
		config.Buffer = defaultBuffer
	}
	if config.Wait == 0 {
		config.Wait = defaultWait
	}
	p := &Producer{config: config, outage: outage.New(config.Wait, time.After)}
	client, err := kgo.NewClient(append(config.options(),
		kgo.DefaultProduceTopic(config.Topic),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		// The bound is kept here, where a refused click is known at once.
		kgo.MaxBufferedRecords(config.Buffer+1),
		// A redirect waits for its record: records are sent when there is one,
		// and those that come meanwhile go together.
		kgo.ProducerLinger(0),
		kgo.UnknownTopicRetries(-1), // it is being created
		kgo.WithHooks(connections{p}),
	)...)
	if err != nil {
		return nil, fmt.Errorf("configure producer of Kafka at %v: %w", config.Brokers, err)
	}
	p.client = client
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.creator.Go(func() { _ = config.ensureTopic(ctx, client) }) // fails only when stopped
	return p, nil
}

// Clicked sends a click. It never fails: a click that finds the buffer full, and is
// not rescued, is counted as lost. A canceled redirect needs no rescue: no reply
// confirms its click.
func (p *Producer) Clicked(ctx context.Context, c shortener.Click) error {
	value, err := encode(c)
	if err != nil {
		p.lose(err)
		return nil
	}
	if p.buffered.Add(1) > int64(p.config.Buffer) {
		p.buffered.Add(-1)
		if !shortener.Rescue(ctx, p.config.Rescue, c, p.config.Count) {
			p.config.Count(shortener.ClickLost, 1)
		}
		return nil
	}
	p.unsettled.Add(1)
	p.config.Count(shortener.ClickQueued, 1)
	d := &delivery{sent: make(chan struct{})}
	// The record outlives the redirect and its context.
	p.client.TryProduce(context.WithoutCancel(ctx), &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
		defer p.unsettled.Done()
		p.buffered.Add(-1)
		if err != nil {
			d.failure = err
			p.giveUp(d)
			return
		}
		close(d.sent)
		if p.outage.Up() {
			p.config.Log.Info("clicks reach Kafka again")
		}
	})
	if p.outage.Wait(ctx, d.sent) {
		return nil
	}
	if ctx.Err() != nil || !shortener.Rescue(ctx, p.config.Rescue, c, p.config.Count) {
		p.giveUp(d)
	}
	return nil
}

// delivery is a click in flight; sent is closed when a broker has it.
type delivery struct {
	sent chan struct{}
	// givenUp counts the parties that gave up: the client, which then has set
	// failure, and the redirect, which was not answered and did not have the click
	// rescued.
	givenUp atomic.Int32
	failure error
}

// giveUp loses a click that both have given up, in whatever order.
func (p *Producer) giveUp(d *delivery) {
	if d.givenUp.Add(1) == 2 {
		p.lose(d.failure)
	}
}

// lose counts a click that was accepted and cannot be sent. The client tries
// again whatever may succeed, so that this is the end of it.
func (p *Producer) lose(err error) {
	p.lost.Add(1)
	p.config.Count(shortener.ClickLost, 1)
	if !errors.Is(err, kgo.ErrClientClosed) { // which Close logs, once for all
		p.config.Log.Error("lose click", "error", err)
	}
}

// Ping reports whether a broker answers.
func (p *Producer) Ping(ctx context.Context) error { return ping(ctx, p.client) }

// Close sends the buffered clicks until ctx ends; the rest is lost, and counted and
// logged as lost. No redirect may be answered any more.
func (p *Producer) Close(ctx context.Context) error {
	flushed := p.client.Flush(ctx)
	before := p.lost.Load()
	p.stop()
	p.creator.Wait()
	p.client.Close()
	p.unsettled.Wait()
	if lost := p.lost.Load() - before; flushed != nil && lost > 0 {
		return fmt.Errorf("close Kafka producer: %d clicks were not sent in time: %w", lost, flushed)
	}
	return nil
}

// connections watches the client connect, which is how an outage shows first.
type connections struct{ producer *Producer }

var _ kgo.HookBrokerConnect = connections{}

// OnBrokerConnect marks the outage, so that redirects do not wait, when no broker is there.
func (c connections) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	if c.producer.outage.Down() {
		c.producer.config.Log.Warn("clicks wait for Kafka", "broker", net.JoinHostPort(meta.Host, fmt.Sprint(meta.Port)), "error", err)
	}
}

func ping(ctx context.Context, client *kgo.Client) error {
	if err := client.Ping(ctx); err != nil {
		return fmt.Errorf("ping Kafka: %w", err)
	}
	return nil
}

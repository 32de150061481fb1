package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Fill is a worker's part of filling the target.
type Fill struct {
	// Request is the index of the request.
	Request int
	// Number is the number, over all workers, of the worker's j-th request.
	Number func(j int64) int64
	// Count is how many requests the worker sends.
	Count int64
	// Capture is the path in the JSON body, by column.
	Capture map[string]string
	// Into gets a row for each response; nil: nothing is captured.
	Into *source.Table
	// Connections is how many requests are in flight at once, at most 16; 0: 16.
	Connections int
}

const (
	// FillConnections is how many requests are in flight at once: enough that the target,
	// not the round trip, is the limit, and few enough not to be a load test.
	FillConnections = 16
	// tryAgain is the pause before a request without a response, or with 502, 503 or 504, is sent again, and
	// maxTryAgain what it grows to. The request may take effect twice, but a target
	// that restarts, or takes fewer connections than these, does not end the run.
	tryAgain    = 250 * time.Millisecond
	maxTryAgain = 5 * time.Second
	// batch is the number of requests whose rows are added at once, in the order of
	// the requests: with the same seed, a request takes the same row.
	batch = 1024
	// keep bounds the part of a body that is searched.
	keep = 1 << 20
)

// filling is a Fill that runs.
type filling struct {
	Config
	Fill
	columns []string
	paths   []source.JSONPath
	senders []*sender // one for each connection
	sent    atomic.Int64
	// failed is why the latest request had no response; nil: it had one.
	failed atomic.Pointer[Unreachable]
}

// Check refuses a fill that could not be sent or captured.
func (f Fill) Check(c Config) error {
	_, err := newFilling(c, f)
	return err
}

func newFilling(c Config, f Fill) (*filling, error) {
	if f.Request < 0 || f.Request >= c.Source.Len() {
		return nil, fmt.Errorf("setup.fill.request: there is no request %d", f.Request)
	}
	if err := checkAlone("fill", c, f.Request); err != nil {
		return nil, err
	}
	r := &filling{Config: c, Fill: f, columns: slices.Sorted(maps.Keys(f.Capture))}
	for _, column := range r.columns {
		path, err := source.ParseJSONPath(f.Capture[column])
		if err != nil {
			return nil, fmt.Errorf("setup.fill.capture.%s: %w", column, err)
		}
		r.paths = append(r.paths, path)
	}
	if f.Into != nil && c.Source.Takes(f.Request, f.Into) {
		return nil, fmt.Errorf("setup.fill.request: request %q uses values that it captures itself", c.Source.Name(f.Request))
	}
	return r, nil
}

// checkAlone refuses a request that has values of a journey.
func checkAlone(of string, c Config, request int) error {
	if err := c.Source.CheckAlone(request); err != nil {
		return fmt.Errorf("setup.%s.request: request %q: %w", of, c.Source.Name(request), err)
	}
	return nil
}

// Run sends the requests, each until it has a response. It calls tell at once and every second with
// the number that was sent, and why the latest had no response, if so: *Unreachable. Its
// own error names the response that was not expected, or is that of ctx.
func (f Fill) Run(ctx context.Context, c Config, tell func(sent int64, unreachable error)) error {
	r, err := newFilling(c, f)
	if err != nil {
		return err
	}
	for range min(cmp.Or(f.Connections, FillConnections), FillConnections) {
		s := c.newSender()
		defer s.conn.Close()
		r.senders = append(r.senders, s)
	}
	defer r.report(tell)()
	for first := int64(0); first < f.Count; first += batch {
		rows := make([][]string, min(batch, f.Count-first))
		if err := r.send(ctx, first, rows); err != nil {
			return err
		}
		for _, row := range rows {
			if f.Into == nil {
				break
			}
			if err := f.Into.Add(row); err != nil {
				return fmt.Errorf("setup.fill.capture: request %q: %w", c.Source.Name(f.Request), err)
			}
		}
	}
	return nil
}

// report calls tell, and again every second until the returned function is called.
func (r *filling) report(tell func(sent int64, unreachable error)) (stop func()) {
	tell(0, nil)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticks := time.NewTicker(time.Second)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
			case <-done:
				return
			}
			var unreachable error
			if failed := r.failed.Load(); failed != nil {
				unreachable = failed
			}
			tell(r.sent.Load(), unreachable)
		}
	}()
	return func() {
		close(done)
		<-stopped
	}
}

// send sends the requests first, first+1, …, one for each row, over all connections.
func (r *filling) send(ctx context.Context, first int64, rows [][]string) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, sender := range r.senders {
		group.Go(func() error {
			defer context.AfterFunc(ctx, sender.conn.Interrupt)()
			for j := i; j < len(rows); j += len(r.senders) {
				var err error
				if rows[j], err = r.one(ctx, sender, first+int64(j)); err != nil {
					return err
				}
				r.sent.Add(1)
			}
			return nil
		})
	}
	return group.Wait()
}

// one sends the worker's j-th request until it is answered.
func (r *filling) one(ctx context.Context, s *sender, j int64) ([]string, error) {
	s.render(r.Request, source.Vars{
		Seq: r.Number(j), Worker: r.Worker, Step: fillStep, Order: source.Order{N: j, Streams: 1},
	})
	if err := s.buffer.Request.Err; err != nil {
		return nil, fmt.Errorf("setup.fill: %w", err)
	}
	s.buffer.Request.Keep, s.buffer.Request.KeepMessage = keep, true
	response, err := r.answer(ctx, s)
	if err != nil {
		return nil, err
	}
	return r.capture(&response)
}

// answer sends the rendered request until there is a response, of a target that is ready. The error is
// that of ctx.
func (r *filling) answer(ctx context.Context, s *sender) (transport.Response, error) {
	for wait := tryAgain; ; wait = min(2*wait, maxTryAgain) {
		response, err := s.send(ctx)
		if err == nil && r.notReady(r.Request, response.Status) {
			err = said(r.Source.CheckStatus(r.Request, response.Status), &response)
			err = fmt.Errorf("%w: the target is not ready", err)
		}
		if err == nil {
			r.failed.Store(nil)
			return response, nil
		}
		if ctx.Err() != nil {
			return response, ctx.Err()
		}
		r.failed.Store(&Unreachable{r.errorf("%w; it is sent again", err)})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return response, ctx.Err()
		}
	}
}

// capture returns the row of a response, which must be the expected one.
func (r *filling) capture(response *transport.Response) ([]string, error) {
	if err := r.Source.CheckStatus(r.Request, response.Status); err != nil {
		return nil, r.errorf("%w", said(err, response))
	}
	if err := r.Source.CheckBody(r.Request, response); err != nil {
		return nil, r.errorf("status %s: %w", measure.StatusName(response.Status), err)
	}
	row := make([]string, len(r.paths))
	document, err := r.Source.Document(r.Request, response)
	if err != nil && len(row) > 0 {
		return nil, r.errorf("status %s: %w", measure.StatusName(response.Status), err)
	}
	for i, path := range r.paths {
		if row[i], err = document.Capture(path); err != nil {
			return nil, r.errorf("status %s, capture of %s: %w", measure.StatusName(response.Status), r.columns[i], err)
		}
	}
	return row, nil
}

func (r *filling) errorf(format string, a ...any) error {
	return fmt.Errorf("setup.fill: request %q: "+format, append([]any{r.Source.Name(r.Request)}, a...)...)
}

// ErrNothingCaptured is the error of a table that stays empty although requests take
// rows of it: some workers have no part of a fill with fewer requests than workers.
var ErrNothingCaptured = errors.New("setup.fill.count: must be at least the number of workers, as requests take captured values and each worker has its own")

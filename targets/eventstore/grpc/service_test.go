package grpc

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	eventstorev1 "github.com/loadtest-dev/loadtest-operator/targets/eventstore/grpc/v1"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/sqlite"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/storetest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpctest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// failing is a store whose appends, moves and reads fail with err, reads from the
// event at failAt on.
type failing struct {
	eventstore.Store
	err    error
	failAt int64
	// ctx is that of the last append.
	ctx context.Context
}

func (f *failing) Append(ctx context.Context, a eventstore.Append) (eventstore.Receipt, error) {
	f.ctx = ctx
	if f.err != nil {
		return eventstore.Receipt{}, f.err
	}
	return f.Store.Append(ctx, a)
}

func (f *failing) Events(ctx context.Context, from, to int64) iter.Seq2[eventstore.Event, error] {
	return func(yield func(eventstore.Event, error) bool) {
		for e, err := range f.Store.Events(ctx, from, to) {
			if f.err != nil && e.Position >= f.failAt {
				yield(eventstore.Event{}, f.err)
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// service is a server's client, and what the server observed.
type service struct {
	eventstorev1.EventStoreServiceClient
	conn     *grpc.ClientConn
	bodies   *eventstore.Budget
	mu       sync.Mutex
	observed []eventstore.Observation
}

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "events.db"), sqlite.Options{Synchronous: sqlite.Normal, GroupCommit: true, Readers: 2})
	must.Succeed(t, err)
	must.Close(t, store)
	return store
}

func newService(t *testing.T, store eventstore.Store, change func(*Config)) *service {
	t.Helper()
	s := &service{bodies: &eventstore.Budget{}}
	config := Config{
		Gate: eventstore.Gate{
			Stores: func(context.Context, string) (eventstore.Store, error) { return store, nil },
			Bodies: s.bodies,
		},
		Ready: func(context.Context) bool { return true },
		Observe: func(o eventstore.Observation) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.observed = append(s.observed, o)
		},
		Now:    func() time.Time { return storetest.AppendTime },
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&config)
	}
	server, err := NewServer(config)
	must.Succeed(t, err)
	s.conn = rpctest.Serve(t, server)
	s.EventStoreServiceClient = eventstorev1.NewEventStoreServiceClient(s.conn)
	return s
}

func (s *service) seen() []eventstore.Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.observed
}

// over is the store by way of gRPC.
type over struct {
	eventstore.Store
	client eventstorev1.EventStoreServiceClient
}

func (o over) Append(ctx context.Context, a eventstore.Append) (eventstore.Receipt, error) {
	request := &eventstorev1.AppendRequest{IdempotencyKey: a.Key, ExpectedPosition: a.Expected}
	for _, e := range a.Events {
		request.Events = append(request.Events, &eventstorev1.Event{Type: e.Type, Data: string(e.Data), Timestamp: timestamppb.New(e.Timestamp)})
	}
	var trailer metadata.MD
	r, err := o.client.Append(ctx, request, grpc.Trailer(&trailer))
	switch status.Code(err) {
	case codes.Aborted:
		return eventstore.Receipt{}, eventstore.ConflictError{Expected: *a.Expected, Actual: position(trailer)}
	case codes.AlreadyExists:
		return eventstore.Receipt{}, eventstore.ErrKeyReused
	}
	return eventstore.Receipt{First: r.GetFirstPosition(), Last: r.GetLastPosition(), Replayed: r.GetReplayed()}, err
}

func position(trailer metadata.MD) int64 {
	n, _ := strconv.ParseInt(trailer.Get("position")[0], 10, 64)
	return n
}

func (o over) Events(ctx context.Context, from, to int64) iter.Seq2[eventstore.Event, error] {
	return func(yield func(eventstore.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := o.client.Read(ctx, &eventstorev1.ReadRequest{From: from, To: &to})
		for err == nil {
			var part *eventstorev1.ReadResponse
			part, err = stream.Recv()
			for _, m := range part.GetEvents() {
				if !yield(eventstore.Event{Position: m.Position, Type: m.Type, Data: []byte(m.Data), Timestamp: m.Timestamp.AsTime()}, nil) {
					return
				}
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(eventstore.Event{}, err)
		}
	}
}

func (o over) Position() int64 {
	r, err := o.client.GetPosition(context.Background(), &eventstorev1.GetPositionRequest{})
	if err != nil {
		return -1
	}
	return r.Position
}

func (o over) Subscription(ctx context.Context, id string) (int64, error) {
	r, err := o.client.GetSubscription(ctx, &eventstorev1.GetSubscriptionRequest{Id: id})
	return r.GetPosition(), err
}

func (o over) Move(ctx context.Context, m eventstore.Move) error {
	var trailer metadata.MD
	_, err := o.client.MoveSubscription(ctx, &eventstorev1.MoveSubscriptionRequest{
		Id: m.ID, Position: &m.Position, AllowBackwards: m.Backwards,
	}, grpc.Trailer(&trailer))
	switch status.Code(err) {
	case codes.FailedPrecondition:
		return eventstore.BackwardsError{Current: position(trailer), Asked: m.Position}
	case codes.InvalidArgument:
		return eventstore.InvalidError(status.Convert(err).Message())
	}
	return err
}

func TestServerConforms(t *testing.T) {
	storetest.RunFront(t, func(t *testing.T) storetest.Subject {
		store := openStore(t)
		return storetest.Subject{Store: over{store, newService(t, store, nil)}}
	})
}

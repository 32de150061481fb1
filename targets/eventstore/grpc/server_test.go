package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	eventstorev1 "github.com/loadtest-dev/loadtest-operator/targets/eventstore/grpc/v1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var errDisk = errors.New("disk of customer hunter2 is gone")

func one(e *eventstorev1.Event) *eventstorev1.AppendRequest {
	return &eventstorev1.AppendRequest{Events: []*eventstorev1.Event{e}}
}

// Bad input names its field, and stores nothing.
func TestAppendRefuses(t *testing.T) {
	minus := int64(-1)
	tests := map[string]struct {
		request *eventstorev1.AppendRequest
		want    string
	}{
		"no event":            {&eventstorev1.AppendRequest{}, "Batch is empty: send 1 to 1000 events"},
		"no type":             {one(&eventstorev1.Event{}), "event 0: type is missing: name the kind of event"},
		"a long type":         {one(&eventstorev1.Event{Type: strings.Repeat("x", 256)}), "event 0: type has 256 bytes: use at most 255"},
		"data that is none":   {one(&eventstorev1.Event{Type: "a", Data: "{"}), "event 0: data is no JSON value"},
		"large data":          {one(&eventstorev1.Event{Type: "a", Data: `"` + strings.Repeat("x", eventstore.MaxData) + `"`}), "event 0: data has 1048578 bytes: use at most 1048576"},
		"an odd time":         {one(&eventstorev1.Event{Type: "a", Timestamp: &timestamppb.Timestamp{Nanos: -1}}), "event 0: timestamp: nanoseconds are -1: use 0 to 999999999"},
		"a far time":          {one(&eventstorev1.Event{Type: "a", Timestamp: timestamppb.New(time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC))}), "event 0: timestamp is in the year 2300: use 1700 to 2200"},
		"the second of two":   {&eventstorev1.AppendRequest{Events: []*eventstorev1.Event{{Type: "a"}, {}}}, "event 1: type is missing: name the kind of event"},
		"too many":            {&eventstorev1.AppendRequest{Events: make([]*eventstorev1.Event, 1001)}, "Batch size limited to 1000 events"},
		"a long key":          {&eventstorev1.AppendRequest{Events: []*eventstorev1.Event{{Type: "a"}}, IdempotencyKey: strings.Repeat("k", 256)}, "idempotency key has 256 bytes: use at most 255"},
		"a negative position": {&eventstorev1.AppendRequest{Events: []*eventstorev1.Event{{Type: "a"}}, ExpectedPosition: &minus}, "expected position is -1: use 0 for an empty log, or more"},
	}
	store := openStore(t)
	s := newService(t, store, nil)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for i := range tc.request.Events {
				if tc.request.Events[i] == nil {
					tc.request.Events[i] = &eventstorev1.Event{Type: "a"}
				}
			}
			before := len(s.seen())
			_, err := s.Append(t.Context(), tc.request)
			if got := status.Convert(err); got.Code() != codes.InvalidArgument || got.Message() != tc.want {
				t.Errorf("status = %v, want %v: %s", got, codes.InvalidArgument, tc.want)
			}
			same.As(t, "stored events", 0, store.Position())
			if seen := s.seen()[before:]; len(seen) != 1 || seen[0].Outcome != eventstore.Refused {
				t.Errorf("observed %+v, want one that is refused", seen)
			}
			if held := s.bodies.Held(); held != 0 {
				t.Errorf("%d bytes are held", held)
			}
		})
	}
}

func TestOtherMethodsRefuse(t *testing.T) {
	s := newService(t, openStore(t), nil)
	minus := int64(-1)
	read := func(r *eventstorev1.ReadRequest) error {
		stream, err := s.Read(t.Context(), r)
		if err != nil {
			return err
		}
		_, err = stream.Recv()
		return err
	}
	_, nameless := s.GetSubscription(t.Context(), &eventstorev1.GetSubscriptionRequest{})
	_, nowhere := s.MoveSubscription(t.Context(), &eventstorev1.MoveSubscriptionRequest{Id: "a"})
	for want, err := range map[string]error{
		"subscription has no proper name: use 1 to 200 letters, digits and any of . _ : -": nameless,
		"position is missing": nowhere,
	} {
		if got := status.Convert(err); got.Code() != codes.InvalidArgument || got.Message() != want {
			t.Errorf("status = %v, want %v: %s", got, codes.InvalidArgument, want)
		}
	}
	const want = "from and to are positions: use 0 or more"
	for _, r := range []*eventstorev1.ReadRequest{{From: -1}, {To: &minus}} {
		if got := status.Convert(read(r)); got.Code() != codes.InvalidArgument || got.Message() != want {
			t.Errorf("read of %v: status = %v, want %v: %s", r, got, codes.InvalidArgument, want)
		}
	}
	for _, o := range s.seen() {
		if o.Outcome != eventstore.Refused {
			t.Errorf("observed %+v, want it refused", o)
		}
	}
}

// What a store returns has the same meaning as over HTTP.
func TestErrorsMeanTheSameAsOverHTTP(t *testing.T) {
	tests := map[string]struct {
		err      error
		code     codes.Code
		sentence string
		trailer  metadata.MD
		outcome  eventstore.Outcome
	}{
		"busy":         {eventstore.ErrBusy, codes.Unavailable, eventstore.ErrBusy.Error(), metadata.Pairs("retry-after", "1"), eventstore.Failed},
		"closed":       {eventstore.ErrClosed, codes.Unavailable, eventstore.ErrClosed.Error(), metadata.Pairs("retry-after", "1"), eventstore.Failed},
		"not stored":   {fmt.Errorf("%w: %w", eventstore.ErrNotStored, context.DeadlineExceeded), codes.Unavailable, eventstore.ErrNotStored.Error(), metadata.Pairs("retry-after", "1"), eventstore.Failed},
		"unknown":      {eventstore.ErrOutcomeUnknown, codes.DeadlineExceeded, eventstore.ErrOutcomeUnknown.Error(), nil, eventstore.Failed},
		"key reused":   {eventstore.ErrKeyReused, codes.AlreadyExists, eventstore.ErrKeyReused.Error(), nil, eventstore.Refused},
		"conflict":     {eventstore.ConflictError{Expected: 1, Actual: 7}, codes.Aborted, "log ends at position 7, not at 1: read on, decide again", metadata.Pairs("position", "7"), eventstore.Refused},
		"disk":         {errDisk, codes.Internal, "internal error: see the service's log", nil, eventstore.Failed},
		"not in UTF-8": {eventstore.InvalidError("type \xff"), codes.InvalidArgument, "type �", nil, eventstore.Refused},
	}
	store := openStore(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newService(t, &failing{Store: store, err: tc.err}, nil)
			var trailer metadata.MD
			_, err := s.Append(t.Context(), one(&eventstorev1.Event{Type: "a"}), grpc.Trailer(&trailer))
			if got := status.Convert(err); got.Code() != tc.code || got.Message() != tc.sentence {
				t.Errorf("status = %v, want %v: %s", got, tc.code, tc.sentence)
			}
			delete(trailer, "content-type")
			if diff := cmp.Diff(tc.trailer, trailer); diff != "" && len(tc.trailer)+len(trailer) > 0 {
				t.Errorf("trailers (-want +got):\n%s", diff)
			}
			want := []eventstore.Observation{{Operation: eventstore.AppendEvent, Outcome: tc.outcome}}
			same.As(t, "observed", want, s.seen())
		})
	}
}

func TestOperationsAreCounted(t *testing.T) {
	s := newService(t, openStore(t), nil)
	ctx, position := t.Context(), int64(1)
	two := &eventstorev1.AppendRequest{Events: []*eventstorev1.Event{{Type: "a"}, {Type: "b"}}, IdempotencyKey: "k"}
	_, err1 := s.Append(ctx, one(&eventstorev1.Event{Type: "a"}))
	_, err2 := s.Append(ctx, two)
	_, err3 := s.Append(ctx, two)
	stream, err4 := s.Read(ctx, &eventstorev1.ReadRequest{From: 2})
	must.Succeed(t, errors.Join(err1, err2, err3, err4))
	for {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	_, err5 := s.GetPosition(ctx, &eventstorev1.GetPositionRequest{})
	_, err6 := s.MoveSubscription(ctx, &eventstorev1.MoveSubscriptionRequest{Id: "r", Position: &position})
	_, err7 := s.GetSubscription(ctx, &eventstorev1.GetSubscriptionRequest{Id: "r"})
	must.Succeed(t, errors.Join(err5, err6, err7))
	want := []eventstore.Observation{
		{Operation: eventstore.AppendEvent, Outcome: eventstore.Done},
		{Operation: eventstore.AppendBatch, Outcome: eventstore.Done},
		{Operation: eventstore.AppendBatch, Outcome: eventstore.Replayed},
		{Operation: eventstore.ReadStream, Outcome: eventstore.Done, Read: 2},
		{Operation: eventstore.ReadPosition, Outcome: eventstore.Done},
		{Operation: eventstore.MoveReader, Outcome: eventstore.Done},
		{Operation: eventstore.ReadReader, Outcome: eventstore.Done},
	}
	same.As(t, "observed", want, s.seen())
}

func TestAKeyOpensTheLogOfItsTenant(t *testing.T) {
	tenants, err := eventstore.NewTenants([]eventstore.Tenant{{Name: "shop", APIKey: "k1"}, {Name: "bank", APIKey: "k2"}})
	must.Succeed(t, err)
	store := openStore(t)
	for name, tc := range map[string]struct {
		metadata []string
		tenant   string
		refused  string
	}{
		"a key":         {metadata: []string{"x-api-key", "k1"}, tenant: "shop"},
		"a bearer":      {metadata: []string{"authorization", "Bearer k2"}, tenant: "bank"},
		"the wrong key": {metadata: []string{"x-api-key", "k3"}, refused: "Invalid API key"},
		"no key":        {refused: "API key required"},
	} {
		t.Run(name, func(t *testing.T) {
			var opened []string
			s := newService(t, store, func(c *Config) {
				c.Access = eventstore.Access{Tenants: tenants, Multi: true}
				c.Stores = func(_ context.Context, tenant string) (eventstore.Store, error) {
					opened = append(opened, tenant)
					return store, nil
				}
			})
			_, err := s.GetPosition(metadata.AppendToOutgoingContext(t.Context(), tc.metadata...), &eventstorev1.GetPositionRequest{})
			if tc.refused == "" {
				if diff := cmp.Diff([]string{tc.tenant}, opened); diff != "" || err != nil {
					t.Errorf("%v; logs that were opened (-want +got):\n%s", err, diff)
				}
				return
			}
			if got := status.Convert(err); got.Code() != codes.Unauthenticated || got.Message() != tc.refused || opened != nil {
				t.Errorf("status = %v, opened %v, want %v: %s", got, opened, codes.Unauthenticated, tc.refused)
			}
		})
	}
}

// A client above its rate is refused before its key is looked at.
func TestLimitedClientsAreRefusedBeforeTheirKeyIsRead(t *testing.T) {
	s := newService(t, openStore(t), func(c *Config) {
		c.Limit = func(client string) (bool, time.Duration) {
			if client != "127.0.0.1" {
				t.Errorf("client is %s", client)
			}
			return false, 1500 * time.Millisecond
		}
	})
	var trailer metadata.MD
	_, err := s.GetPosition(t.Context(), &eventstorev1.GetPositionRequest{}, grpc.Trailer(&trailer))
	if got := status.Convert(err); got.Code() != codes.ResourceExhausted || got.Message() != "Rate limit exceeded" {
		t.Errorf("status = %v, want %v", got, codes.ResourceExhausted)
	}
	if got := trailer.Get("retry-after"); !cmp.Equal(got, []string{"2"}) {
		t.Errorf("retry-after = %v, want 2", got)
	}
	want := []eventstore.Observation{{Operation: eventstore.ReadPosition, Outcome: eventstore.Limited}}
	same.As(t, "observed", want, s.seen())
}

// Requests of both protocols share one budget of memory.
func TestMemoryIsLimited(t *testing.T) {
	store := openStore(t)
	s := newService(t, store, nil)
	release, err := s.bodies.Reserve(64<<20 - 4)
	must.Succeed(t, err)
	if _, err := s.Append(t.Context(), one(&eventstorev1.Event{Type: "a"})); status.Code(err) != codes.Unavailable {
		t.Errorf("error = %v, want %v", err, codes.Unavailable)
	}
	release()
	if _, err := s.Append(t.Context(), one(&eventstorev1.Event{Type: "a"})); err != nil {
		t.Errorf("after the others are done: %v", err)
	}
	if held := s.bodies.Held(); held != 0 || store.Position() != 1 {
		t.Errorf("%d bytes are held and %d events stored, want 0 and 1", held, store.Position())
	}
}

func TestTooLargeMessageStoresNothing(t *testing.T) {
	store := openStore(t)
	s := newService(t, store, nil)
	_, err := s.Append(t.Context(), one(&eventstorev1.Event{Type: "a", Data: strings.Repeat("1", maxRequest)}))
	if status.Code(err) != codes.ResourceExhausted || store.Position() != 0 {
		t.Errorf("error = %v, want %v; %d events are stored", err, codes.ResourceExhausted, store.Position())
	}
	if _, err := s.Append(t.Context(), one(&eventstorev1.Event{Type: "a"})); err != nil {
		t.Errorf("the next on the same connection: %v", err)
	}
}

// One event is waited for as briefly as over HTTP, a batch as long.
func TestAppendHasATimeLimit(t *testing.T) {
	f := &failing{Store: openStore(t)}
	s := newService(t, f, nil)
	for n, want := range map[int]time.Duration{1: 5 * time.Second, 2: 30 * time.Second} {
		request := &eventstorev1.AppendRequest{}
		for range n {
			request.Events = append(request.Events, &eventstorev1.Event{Type: "a"})
		}
		before := time.Now()
		if _, err := s.Append(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		deadline, limited := f.ctx.Deadline()
		if after := time.Now(); !limited || deadline.Before(before.Add(want)) || deadline.After(after.Add(want)) {
			t.Errorf("%d events: deadline is %v after the call, limited %v; want %v", n, deadline.Sub(before), limited, want)
		}
	}
}

// A client's own deadline reaches the store: it is less than that of a batch. A call tells
// how long is left of it, which counts from when the call comes.
func TestDeadlineOfTheClientReachesTheStore(t *testing.T) {
	f := &failing{Store: openStore(t)}
	s := newService(t, f, nil)
	const own = 15 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), own)
	defer cancel()
	request := one(&eventstorev1.Event{Type: "a"})
	request.Events = append(request.Events, &eventstorev1.Event{Type: "a"})
	if _, err := s.Append(ctx, request); err != nil {
		t.Fatal(err)
	}
	if deadline, limited := f.ctx.Deadline(); !limited || time.Until(deadline) > own {
		t.Errorf("the store has %v left, limited %v; the client gave %v", time.Until(deadline), limited, own)
	}
}

// Reads come in parts, each bounded, and say so when they end too early.
func TestReadInParts(t *testing.T) {
	f := &failing{Store: openStore(t)}
	s := newService(t, f, nil)
	batch := &eventstorev1.AppendRequest{}
	for range eventstore.MaxBatch {
		batch.Events = append(batch.Events, &eventstorev1.Event{Type: "a"})
	}
	large := one(&eventstorev1.Event{Type: "b", Data: `"` + strings.Repeat("x", eventstore.PartBytes) + `"`})
	for _, request := range []*eventstorev1.AppendRequest{batch, batch, large, large} {
		if _, err := s.Append(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (parts []int, err error) {
		stream, err := s.Read(t.Context(), &eventstorev1.ReadRequest{From: 501})
		for err == nil {
			var part *eventstorev1.ReadResponse
			if part, err = stream.Recv(); err == nil {
				parts = append(parts, len(part.Events))
			}
		}
		return parts, err
	}
	parts, err := read()
	if diff := cmp.Diff([]int{1000, 501, 1}, parts); diff != "" || !errors.Is(err, io.EOF) {
		t.Errorf("%v; events in parts (-want +got):\n%s", err, diff)
	}
	seen := s.seen()
	want := eventstore.Observation{Operation: eventstore.ReadStream, Outcome: eventstore.Done, Read: 1502}
	same.As(t, "observed", want, seen[len(seen)-1])
	f.err, f.failAt = errDisk, 1600
	parts, err = read()
	if diff := cmp.Diff([]int{1000}, parts); diff != "" || status.Code(err) != codes.Internal {
		t.Errorf("%v; events in parts before the disk fails (-want +got):\n%s", err, diff)
	}
	seen = s.seen()
	want.Outcome, want.Read = eventstore.Failed, 1000
	same.As(t, "observed", want, seen[len(seen)-1])
}

// A client that leaves in the middle of a read is counted as one that did.
func TestVanishedReaderIsCounted(t *testing.T) {
	observed := make(chan eventstore.Observation, 4)
	s := newService(t, openStore(t), func(c *Config) { c.Observe = func(o eventstore.Observation) { observed <- o } })
	large := one(&eventstorev1.Event{Type: "b", Data: `"` + strings.Repeat("x", eventstore.MaxData-2) + `"`})
	for range 3 { // more than the windows of a client that does not read
		if _, err := s.Append(t.Context(), large); err != nil {
			t.Fatal(err)
		}
		<-observed
	}
	ctx, leave := context.WithCancel(t.Context())
	if _, err := s.Read(ctx, &eventstorev1.ReadRequest{}); err != nil {
		t.Fatal(err)
	}
	// When this is answered, the read has begun.
	if _, err := s.GetPosition(t.Context(), &eventstorev1.GetPositionRequest{}); err != nil {
		t.Fatal(err)
	}
	<-observed
	leave()
	if got := <-observed; got.Operation != eventstore.ReadStream || got.Outcome != eventstore.Aborted {
		t.Errorf("observed %+v, want a stream that was aborted", got)
	}
}

func TestPanicIsAnswered(t *testing.T) {
	s := newService(t, nil, nil)
	_, err := s.GetPosition(t.Context(), &eventstorev1.GetPositionRequest{})
	if got := status.Convert(err); got.Code() != codes.Internal || got.Message() != "internal error" {
		t.Errorf("status = %v, want %v: internal error", got, codes.Internal)
	}
	want := []eventstore.Observation{{Operation: eventstore.ReadPosition, Outcome: eventstore.Failed}}
	same.As(t, "observed", want, s.seen())
}

func TestNewServerRefusesIncompleteConfig(t *testing.T) {
	if _, err := NewServer(Config{}); err == nil {
		t.Error("accepted a config without anything")
	}
}

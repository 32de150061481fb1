package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	eventstorev1 "github.com/loadtest-dev/loadtest-operator/targets/eventstore/grpc/v1"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpctest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A log is the same over both protocols, and so are its keys.
func TestProtocolsShareTheLog(t *testing.T) {
	s := start(t, map[string]string{"API_KEY": "s3cr3t"}, "--data-dir="+t.TempDir(), "--grpc-address=127.0.0.1:0")
	client := eventstorev1.NewEventStoreServiceClient(rpctest.Dial(t, s.GRPC))
	request := &eventstorev1.AppendRequest{Events: []*eventstorev1.Event{{Type: "a", Data: `{"n":1}`}}, IdempotencyKey: "k"}
	if _, err := client.Append(t.Context(), request); status.Code(err) != codes.Unauthenticated {
		t.Errorf("append without a key = %v, want %v", err, codes.Unauthenticated)
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-api-key", "s3cr3t")
	if _, err := client.Append(ctx, request); err != nil {
		t.Fatal(err)
	}
	expect(t, "POST", s.URL+"/events", 200, `{"position":1,"type":"a","data":{"n":1},"timestamp":"2026-11-20T12:00:00Z"}`, `{"type":"a","data":{"n":1}}`, "X-API-Key", "s3cr3t", "Idempotency-Key", "k")
	got, err := client.GetPosition(ctx, &eventstorev1.GetPositionRequest{})
	if err != nil || got.GetPosition() != 1 {
		t.Errorf("position = %v, %v, want 1", got, err)
	}
	_, page := servetest.Ask(t, "GET", s.URL+"/metrics", "")
	for series, want := range map[string]int{
		"eventstore_events_appended_total":                                 1,
		`eventstore_requests_total{operation="append",outcome="done"}`:     1,
		`eventstore_requests_total{operation="append",outcome="replayed"}`: 1,
		`eventstore_commits_total{outcome="committed"}`:                    2,
		"eventstore_waiting_requests":                                      0,
	} {
		same.As(t, series, want, servetest.Counted(t, page, series))
	}
}

// Appends that are acknowledged while the program ends are stored, and those that
// are refused are not.
func TestShutdownUnderLoadKeepsWhatIsAcknowledged(t *testing.T) {
	const clients, enough = 8, 200
	dir := t.TempDir()
	s := start(t, nil, "--data-dir="+dir, "--grpc-address=127.0.0.1:0")
	var mu sync.Mutex
	acknowledged := map[int64]string{}
	reached := make(chan struct{})
	var n atomic.Int64
	var group sync.WaitGroup
	for c := range clients {
		client := eventstorev1.NewEventStoreServiceClient(rpctest.Dial(t, s.GRPC))
		group.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("%d/%d", c, i)
				r, err := client.Append(t.Context(), &eventstorev1.AppendRequest{
					Events: []*eventstorev1.Event{{Type: name, Data: fmt.Sprintf(`{"name":%q}`, name)}},
				})
				if err != nil {
					if status.Code(err) != codes.Unavailable {
						t.Errorf("%s: %v, want %v at the end", name, err, codes.Unavailable)
					}
					return
				}
				mu.Lock()
				acknowledged[r.GetFirstPosition()] = name
				mu.Unlock()
				if n.Add(1) == enough {
					close(reached)
				}
			}
		})
	}
	<-reached
	must.Succeed(t, s.Stop())
	group.Wait()
	same.As(t, "log", acknowledged, stored(t, start(t, nil, "--data-dir="+dir).URL))
}

// The program writes what a client needs to know of its messages, and nothing else.
func TestDescriptorsHaveTheService(t *testing.T) {
	out, err := servetest.Command(t, "descriptors").Output()
	must.Succeed(t, err)
	set := &descriptorpb.FileDescriptorSet{}
	must.Succeed(t, proto.Unmarshal(out, set))
	files, err := protodesc.NewFiles(set)
	must.Succeed(t, err)
	if _, err := files.FindDescriptorByName("loadtest.eventstore.v1.EventStoreService.Append"); err != nil {
		t.Error(err)
	}
}

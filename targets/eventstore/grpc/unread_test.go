package grpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	eventstorev1 "github.com/loadtest-dev/loadtest-operator/targets/eventstore/grpc/v1"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// unended is a message of almost 8 MB, whose last byte does not come.
func unended(ctx context.Context) io.Reader {
	const size = maxRequest - 8
	head := binary.BigEndian.AppendUint32([]byte{0}, size)
	return io.MultiReader(bytes.NewReader(append(head, make([]byte, size-1)...)), never{ctx})
}

// never is a reader that waits until its context ends.
type never struct{ ctx context.Context }

func (n never) Read([]byte) (int, error) {
	<-n.ctx.Done()
	return 0, io.ErrUnexpectedEOF
}

// Requests that are being received are within the budget, too, as over HTTP: half of it has room for
// four of the largest. The rest is left to others. Two more are enough to be refused: the service waits for a request for
// 10 s, in which all of them must have come.
func TestUnreadRequestsAreWithinTheBudget(t *testing.T) {
	service := newService(t, openStore(t), nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	const requests, room = 6, 4
	statuses := make(chan string, requests)
	for range requests {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+service.conn.Target()+"/loadtest.eventstore.v1.EventStoreService/Append", unended(ctx))
		must.Succeed(t, err)
		r.Header.Set("Content-Type", "application/grpc")
		r.Header.Set("TE", "trailers")
		go func() {
			if response, err := transport.RoundTrip(r); err == nil {
				statuses <- response.Header.Get("Grpc-Status")
				_ = response.Body.Close()
			}
		}()
	}
	for range requests - room {
		if got := await.Receive(t, "a refusal", statuses); got != "1" {
			t.Errorf("status %s, want 1: CANCELLED", got)
		}
	}
	await.True(t, "the refusals to be observed", func() bool { return len(service.seen()) == requests-room })
	if held := service.bodies.Held(); held != room*maxRequest {
		t.Errorf("%d MB are held, want those of %d requests", held>>20, room)
	}
	if _, err := service.Append(ctx, one(&eventstorev1.Event{Type: "a"})); err != nil {
		t.Errorf("another client's append: %v", err)
	}
	for _, o := range service.seen()[:requests-room] {
		if o.Outcome != eventstore.Failed {
			t.Errorf("outcome %v, want %v", o.Outcome, eventstore.Failed)
		}
	}
	cancel()
	await.True(t, "the memory to be released", func() bool { return service.bodies.Held() == 0 })
}

package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Each response is one that a client cannot take as a whole, and goes on for as long as the
// client reads.
func TestResponsesAreHostile(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() { _ = serve(listener) }()
	for path, r := range responses {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", listener.Addr().String())
			must.Succeed(t, err)
			defer conn.Close()
			if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			must.Succeed(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
			want := int64(len(r.start) + 3*len(r.more))
			if n, err := io.CopyN(io.Discard, conn, want); err != nil {
				t.Errorf("%d bytes of %d: %v", n, want, err)
			}
		})
	}
	answer, err := http.Get("http://" + listener.Addr().String() + "/none")
	must.Succeed(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("another path has status %d", answer.StatusCode)
	}
}

// A call has an answer of gRPC, but for one that has none.
func TestCallsAreAnsweredByTheirMessage(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() { _ = serveCalls(listener) }()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	post := func(ctx context.Context, message string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+listener.Addr().String()+"/a.B/C", strings.NewReader(message))
		must.Succeed(t, err)
		return transport.RoundTrip(r)
	}
	for message, want := range map[string][2]string{"other": {"12", ""}, "a markup": {"7", markup}} {
		answer, err := post(t.Context(), message)
		must.Succeed(t, err)
		answer.Body.Close()
		same.As(t, message+" is answered by", want, [2]string{answer.Header.Get("Grpc-Status"), answer.Header.Get("Grpc-Message")})
	}
	answer, err := post(t.Context(), "endless")
	must.Succeed(t, err)
	defer answer.Body.Close()
	if n, err := io.CopyN(io.Discard, answer.Body, 100_000); err != nil {
		t.Errorf("%d bytes of a reply without end: %v", n, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := post(ctx, "silent"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that is not answered: %v", err)
	}
}

// An attack counts as ended only if the other side ended it.
func TestAttacksAreTallied(t *testing.T) {
	closed := errors.New("closed")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, hows := &tallies{}, make(chan error)
	a := attack{atOnce: 1, try: func(context.Context) (int64, error) { return 7, <-hows }}
	a.begin(ctx, "a", all)
	for _, how := range []error{errUnreached, closed, errKept, closed} {
		hows <- how
	}
	hows <- errUnreached // the last one before it was tallied
	got := all.copied()["a"]
	got.Tried, got.Unreached = 0, min(got.Unreached, 1) // of the one that goes on
	if want := (tally{Ended: 2, Kept: 1, Unreached: 1, Most: 7, Said: "closed"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What a server keeps open does not count as closed.
func TestKeptConnectionsAreNoEndedOnes(t *testing.T) {
	for name, want := range map[string]error{"kept": errKept, "closed": io.EOF} {
		near, far := net.Pipe()
		if name == "closed" {
			_ = far.Close()
		} else if err := near.SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if err := awaitEnd(near); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		_ = far.Close()
	}
}

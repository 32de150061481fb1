package http2

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// driven is a loop with a connection, and the outcomes of its requests.
type driven struct {
	*Loop
	t        *testing.T
	conn     LoopConn
	streams  []*LoopStream
	outcomes map[int]string
	bodies   map[int]string
}

func newDriven(t *testing.T, c *Client) *driven {
	t.Helper()
	d := &driven{t: t, outcomes: map[int]string{}, bodies: map[int]string{}}
	l, err := c.NewLoop(time.Now(), d.done)
	must.Succeed(t, err)
	t.Cleanup(l.Close)
	d.Loop = l
	l.Add(&d.conn, c.NewConn().(*Conn))
	return d
}

func (d *driven) done(st *LoopStream, r transport.Response, err error) {
	if _, twice := d.outcomes[st.Tag]; twice {
		d.t.Errorf("request %d ended twice", st.Tag)
	}
	d.outcomes[st.Tag] = fmt.Sprint(r.Status)
	d.bodies[st.Tag] = string(r.Body)
	if err != nil {
		d.outcomes[st.Tag] = failure.Classify(err).String()
	}
}

// request sends a request, whose number is how many were sent before.
func (d *driven) request(r *transport.Request, within time.Duration) {
	st := &LoopStream{Tag: len(d.streams)}
	d.streams = append(d.streams, st)
	d.Send(context.Background(), st, &d.conn, r, within)
}

// await waits for events until so many requests have ended.
func (d *driven) await(n int) {
	d.t.Helper()
	for end := time.Now().Add(scripted.Patience); len(d.outcomes) < n; {
		if time.Now().After(end) {
			d.t.Fatalf("%d of %d requests ended: %v", len(d.outcomes), n, d.outcomes)
		}
		d.Wait(scripted.Patience)
	}
}

// open sends a request that opens the connection.
func (d *driven) open() {
	d.t.Helper()
	d.request(scripted.Get, scripted.Patience)
	d.await(1)
}

// overHTTP2 runs a test by prior knowledge and over TLS.
func overHTTP2(t *testing.T, handle http.HandlerFunc, test func(*testing.T, *Client)) {
	for name, config := range scripted.Protocols(t, handle) {
		if config.HTTP2 {
			t.Run(name, func(t *testing.T) { test(t, NewClient(scripted.NewDialer(t, config), "agent", Shared{})) })
		}
	}
}

func TestALoopCarriesRequestsSideBySide(t *testing.T) {
	const requests = 200
	body := strings.Repeat("0123456789", 30_000)
	overHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost && string(got) != body {
			t.Errorf("%d bytes came, want %d", len(got), len(body))
		}
		_, _ = io.WriteString(w, r.URL.Path+" "+r.Header.Get("X-Number")+" "+r.UserAgent())
	}, func(t *testing.T, c *Client) {
		d := newDriven(t, c)
		d.open()
		for n := 1; n < requests; n++ {
			number := fmt.Sprint(n)
			r := &transport.Request{
				Method: "GET", Path: []byte("/" + number), Keep: 100,
				Headers: []transport.Header{{Name: "X-Number", Value: []byte(number)}, {Name: "Connection", Value: []byte("close")}},
			}
			if n%50 == 0 {
				r.Method, r.Body = "POST", []byte(body)
			}
			d.request(r, scripted.Patience)
		}
		d.await(requests)
		for n := 1; n < requests; n++ {
			if want := fmt.Sprintf("/%d %d agent", n, n); d.outcomes[n] != "200" || d.bodies[n] != want {
				t.Errorf("request %d: %s, %q, want 200, %q", n, d.outcomes[n], d.bodies[n], want)
			}
		}
		if c.Opened() != 1 || d.conn.InFlight() != 0 {
			t.Errorf("%d connections, %d in flight", c.Opened(), d.conn.InFlight())
		}
	})
}

// A request that is too late leaves the connection to the others.
func TestATimeoutEndsOneStream(t *testing.T) {
	overHTTP2(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			<-r.Context().Done()
		}
	}, func(t *testing.T, c *Client) {
		d := newDriven(t, c)
		d.open()
		d.request(&transport.Request{Method: "GET", Path: []byte("/hold")}, 0)
		d.request(scripted.Get, scripted.Patience)
		d.await(3)
		d.request(scripted.Get, scripted.Patience)
		d.await(4)
		if got := fmt.Sprint(d.outcomes); got != "map[0:200 1:timeout 2:200 3:200]" || c.Opened() != 1 {
			t.Errorf("%s over %d connections", got, c.Opened())
		}
	})
}

// What is in flight at the end of a step is interrupted; the connection goes on, in a Conn
// and then in another loop.
func TestAConnectionOutlivesItsLoop(t *testing.T) {
	overHTTP2(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			<-r.Context().Done()
		}
	}, func(t *testing.T, c *Client) {
		d := newDriven(t, c)
		d.open()
		d.request(&transport.Request{Method: "GET", Path: []byte("/hold")}, scripted.Patience)
		d.Interrupt()
		if got := fmt.Sprint(d.outcomes); got != "map[0:200 1:unfinished]" {
			t.Fatal(got)
		}
		conn := c.NewConn().(*Conn)
		d.Return(&d.conn, conn)
		got, err := conn.Do(t.Context(), scripted.Get, scripted.Far())
		if err != nil || got.Status != 200 || !got.Reused || !conn.Alive() {
			t.Fatalf("%+v, %v", got, err)
		}
		next := newDriven(t, c)
		next.Add(&next.conn, conn)
		next.open()
		if next.outcomes[0] != "200" || c.Opened() != 1 {
			t.Errorf("%s over %d connections", next.outcomes[0], c.Opened())
		}
	})
}

// A server that shuts down ends what it has begun, and gets no more: the next request opens
// another connection.
func TestAConnectionThatIsDrainedIsReplaced(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	began, release := make(chan struct{}), make(chan struct{})
	server := &http.Server{Protocols: &http.Protocols{}, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			close(began)
			<-release
		}
	})}
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(lis) }()
	c := NewClient(scripted.NewDialer(t, dial.Config{URL: "http://" + lis.Addr().String(), HTTP2: true}), "", Shared{})
	d := newDriven(t, c)
	d.open()
	d.request(&transport.Request{Method: "GET", Path: []byte("/hold")}, scripted.Patience)
	d.Wait(0)
	<-began
	var group sync.WaitGroup
	group.Go(func() { _ = server.Shutdown(context.Background()) })
	for d.conn.IsOpen() {
		d.Wait(scripted.Patience)
	}
	if d.conn.IsClosed() || d.conn.Room() != 0 || d.conn.InFlight() != 1 {
		t.Errorf("closed %v, room for %d, %d in flight; want what is in flight to be awaited", d.conn.IsClosed(), d.conn.Room(), d.conn.InFlight())
	}
	close(release)
	d.await(2)
	group.Wait()
	d.Wait(0)
	if d.outcomes[1] != "200" || !d.conn.IsClosed() {
		t.Errorf("%s, closed %v", d.outcomes[1], d.conn.IsClosed())
	}
	d.request(scripted.Get, scripted.Patience)
	d.await(3)
	if got := d.outcomes[2]; got != measure.Refused.String() {
		t.Errorf("the next request: %s, want that its connection is refused", got)
	}
}

// What a server has sent before it closed a connection is read first, although a request can be written no more.
func TestWhatCameBeforeARequestCannotBeWritten(t *testing.T) {
	answer := func(f *xhttp2.Framer, id uint32) error {
		return f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x88}, EndHeaders: true, EndStream: true})
	}
	for name, tt := range map[string]struct {
		send func(f *xhttp2.Framer, id uint32) error
		want string
	}{
		"an answer":              {answer, "map[0:200 1:200 2:reset]"},
		"an answer and a GOAWAY": {func(f *xhttp2.Framer, id uint32) error { return errors.Join(answer(f, id), f.WriteGoAway(id, 0, nil)) }, "map[0:200 1:200 2:refused]"},
		"what is no HTTP/2":      {func(f *xhttp2.Framer, _ uint32) error { return f.WriteRawFrame(xhttp2.FramePing, 0, 1, nil) }, "map[0:200 1:badResponse 2:badResponse]"},
	} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan struct{})
			url := scripted.Serve(t, func(c *net.TCPConn, r *bufio.Reader) {
				defer close(closed)
				_, _ = io.CopyN(io.Discard, r, int64(len(xhttp2.ClientPreface)))
				f := xhttp2.NewFramer(c, r)
				err := errors.Join(f.WriteSettings(), answer(f, nextRequest(f)), tt.send(f, nextRequest(f)), c.SetLinger(0), c.Close()) // by a reset
				if err != nil {
					t.Error(err)
				}
			})
			d := newDriven(t, NewClient(scripted.NewDialer(t, dial.Config{URL: url, HTTP2: true}), "", Shared{}))
			d.open()
			d.request(scripted.Get, scripted.Patience)
			d.flush()
			<-closed
			d.request(scripted.Get, scripted.Patience)
			d.await(3)
			if got := fmt.Sprint(d.outcomes); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// nextRequest reads up to the next request, and returns the number of its stream; 0: none comes.
func nextRequest(f *xhttp2.Framer) (stream uint32) {
	for stream == 0 {
		frame, err := f.ReadFrame()
		if err != nil {
			break
		}
		if frame.Header().Type == xhttp2.FrameHeaders {
			stream = frame.Header().StreamID
		}
	}
	return stream
}

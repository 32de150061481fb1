//go:build !race

// The race detector takes memory of its own: make test runs these tests without it.

package assemble

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/websocket"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	targets "github.com/loadtest-dev/loadtest-operator/test/scripted"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// isWorker is the environment variable that makes this program a worker, which does nothing
// but the one step of the assignment in it, so that its memory is that of the step.
const isWorker = "TEST_WORKER_ASSIGNMENT"

func TestMain(m *testing.M) {
	if text := os.Getenv(isWorker); text != "" {
		if err := measureMemory(text); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// measureMemory runs the step until its standard input ends, with as much memory as its users
// need, and writes the peak of its resident memory, and the limit, in bytes.
func measureMemory(text string) error {
	a := &workerv1.Assignment{}
	if err := protojson.Unmarshal([]byte(text), a); err != nil {
		return err
	}
	x, err := New(context.Background(), a, testConfig(), ignore)
	if err != nil {
		return err
	}
	step, err := x.Step(0)
	if err != nil {
		return err
	}
	memory := memoryNeed(a)
	limits := health.Limits{Memory: memory.base + step.Users()*memory.each}
	debug.SetMemoryLimit(MemoryGoal(limits))
	running := x.Runner(step).Start(step, time.Now())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := awaitDescriptors(step.Users()); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	peak := int64(0)
	if _, err := fmt.Sscanf(rest, "%d kB", &peak); err != nil {
		return err
	}
	fmt.Println(peak*kib, limits.Memory)
	running.Cut()
	<-running.Done()
	return nil
}

// awaitDescriptors waits until the process has so many. It gives up some time after the test
// that started it, which may have ended.
func awaitDescriptors(count int64) error {
	for late := time.After(2 * await.Patience); ; {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil || int64(len(open)) >= count {
			return err
		}
		select {
		case <-late:
			return fmt.Errorf("%d descriptors are open, want %d", len(open), count)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// standstill is where a target stands still.
type standstill func(t *testing.T, users int64, a *workerv1.Target) (reached <-chan struct{})

// holding has all requests, and answers none.
func holding(t *testing.T, users int64, a *workerv1.Target) <-chan struct{} {
	t.Helper()
	held, all := atomic.Int64{}, make(chan struct{})
	hold := func() {
		if held.Add(1) == users {
			close(all)
		}
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		hold()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	if a.Tls == nil {
		server.Start()
		a.Url = server.URL
		return all
	}
	// The server of net/http ends an HTTP/2 connection of which it has read nothing for two
	// seconds, which is short for so many handshakes at once.
	server.EnableHTTP2 = true
	server.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		http2.NextProtoTLS: func(_ *http.Server, conn *tls.Conn, _ http.Handler) { holdFrames(conn, hold) },
	}
	server.StartTLS()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	a.Url, a.Tls.CaFile, a.Tls.ServerName = server.URL, file(t, string(certificate)), "example.com"
	return all
}

// holdFrames reads a connection of HTTP/2 to its end, and calls hold for each request.
func holdFrames(conn net.Conn, hold func()) {
	framer := http2.NewFramer(conn, conn)
	if _, err := io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface))); err != nil || framer.WriteSettings() != nil {
		return
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		if frame.Header().Type == http2.FrameHeaders {
			hold()
		}
	}
}

// upgraded opens all connections of WebSocket, and sends nothing.
func upgraded(t *testing.T, users int64, a *workerv1.Target) <-chan struct{} {
	t.Helper()
	opened, all := atomic.Int64{}, make(chan struct{})
	server := httptest.NewUnstartedServer(websocket.Server{Handler: func(conn *websocket.Conn) {
		if opened.Add(1) == users {
			close(all)
		}
		_, _ = io.Copy(io.Discard, conn)
	}})
	t.Cleanup(server.CloseClientConnections)
	if a.Tls == nil {
		server.Start()
	} else {
		server.StartTLS()
		a.Tls.InsecureSkipVerify = true
	}
	a.Url = server.URL
	return all
}

// mute accepts all connections, and sends nothing.
func mute(t *testing.T, users int64, a *workerv1.Target) <-chan struct{} {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	all := make(chan struct{})
	go func() {
		defer close(all)
		for range users {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	a.Url = schemeOf(a) + lis.Addr().String()
	return all
}

// full has no room in its backlog: its kernel answers no connection.
func full(t *testing.T, _ int64, a *workerv1.Target) <-chan struct{} {
	t.Helper()
	a.Url = schemeOf(a) + targets.FullBacklog(t).String()
	all := make(chan struct{})
	close(all)
	return all
}

func schemeOf(a *workerv1.Target) string {
	if a.Tls != nil {
		return "https://"
	}
	return "http://"
}

// memoryOf is what such a worker has taken when a target stands still that many users wait
// for, and what it may take. They send the requests, if there are any, and else one of HTTP.
func memoryOf(t *testing.T, users int64, target *workerv1.Target, where standstill, requests ...*workerv1.Request) (peak, limit int64) {
	t.Helper()
	a := workertest.Assignment("", workertest.Burst(0, users, 1))
	if len(requests) > 0 {
		a.Requests = requests
	}
	target = proto.CloneOf(target)
	target.TimeoutNanos, target.AllowSpecialAddresses = int64(time.Hour), true
	a.Target = target
	reached := where(t, users, a.Target)
	text, err := protojson.Marshal(a)
	must.Succeed(t, err)
	worker := exec.CommandContext(t.Context(), os.Args[0])
	worker.Env = append(os.Environ(), isWorker+"="+string(text))
	worker.Stderr = os.Stderr
	end, err := worker.StdinPipe()
	must.Succeed(t, err)
	out, err := worker.StdoutPipe()
	must.Succeed(t, err)
	must.Succeed(t, worker.Start())
	await.True(t, "the target has got all requests", func() bool {
		select {
		case <-reached:
			return true
		default:
			return false
		}
	})
	_ = end.Close()
	if _, err := fmt.Fscan(bufio.NewReader(out), &peak, &limit); err != nil {
		t.Fatal(err)
	}
	if err := worker.Wait(); err != nil {
		t.Error(err)
	}
	return peak, limit
}

// Users for whom there is just enough memory do not take more, wherever the target stands still.
// Where a connection takes most, that is not much less than what is reserved for it.
func TestReservedMemoryIsWhatConnectionsTake(t *testing.T) {
	const h2 = workerv1.Protocol_PROTOCOL_HTTP2
	secured := &workerv1.TLS{}
	for name, tt := range map[string]struct {
		target *workerv1.Target
		where  standstill
		most   bool // it takes nowhere more
	}{
		"HTTP/1.1, SYN not answered":                {&workerv1.Target{}, full, true},
		"HTTP/1.1, request held":                    {&workerv1.Target{}, holding, false},
		"HTTP/1.1 over TLS, hello not answered":     {&workerv1.Target{Tls: secured}, mute, true},
		"HTTP/1.1 over TLS, request held":           {&workerv1.Target{Tls: secured}, holding, false},
		"HTTP/1.1 over TLS resumed, request held":   {&workerv1.Target{Tls: &workerv1.TLS{Resume: true}}, holding, false},
		"HTTP/1.1 without keep-alive, request held": {&workerv1.Target{DisableKeepAlive: true}, holding, false},
		"HTTP/1.1 over TLS without keep-alive, request held": {
			&workerv1.Target{DisableKeepAlive: true, Tls: secured}, holding, false,
		},
		"HTTP/2, SYN not answered":            {&workerv1.Target{Protocol: h2}, full, true},
		"HTTP/2 over TLS, hello not answered": {&workerv1.Target{Protocol: h2, Tls: secured}, mute, true},
		"HTTP/2 over TLS, request held":       {&workerv1.Target{Protocol: h2, Tls: secured}, holding, false},
		"HTTP/2 over TLS without keep-alive, request held": {
			&workerv1.Target{Protocol: h2, DisableKeepAlive: true, Tls: secured}, holding, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			const few, many = 200, 1200
			peak, limit := memoryOf(t, many, tt.target, tt.where)
			t.Logf("%d and %d in the kernel of %d", peak, many*kernelMemory, limit)
			if peak+many*kernelMemory > limit {
				t.Errorf("%d users take %d bytes, and %d in the kernel; %d are reserved", many, peak, many*kernelMemory, limit)
			}
			if !tt.most {
				return
			}
			base, less := memoryOf(t, few, tt.target, tt.where)
			if taken, reserved := peak-base, limit-less; taken < reserved/3 {
				t.Errorf("%d connections take %d bytes, and %d are reserved", many-few, taken, reserved)
			}
		})
	}
}

// Connections of WebSocket over which messages are sent by the clock take no more than is reserved for them.
func TestReservedMemoryIsWhatConnectionsOfWebSocketTake(t *testing.T) {
	request := talk("hello", "hello")
	request.WebSocket.EveryNanos = int64(time.Hour)
	for name, target := range map[string]*workerv1.Target{"plain": {}, "TLS": {Tls: &workerv1.TLS{}}} {
		t.Run(name, func(t *testing.T) {
			const few, many = 200, 1200
			base, less := memoryOf(t, few, target, upgraded, request)
			peak, limit := memoryOf(t, many, target, upgraded, request)
			t.Logf("%d bytes, and %d in the kernel, of %d: %d for each connection, of %d", peak, many*kernelMemory, limit, (peak-base)/(many-few), (limit-less)/(many-few))
			if peak+many*kernelMemory > limit {
				t.Errorf("%d users take %d bytes, and %d in the kernel; %d are reserved", many, peak, many*kernelMemory, limit)
			}
			if taken, reserved := peak-base, limit-less; taken < reserved/3 {
				t.Errorf("%d connections take %d bytes, and %d are reserved", many-few, taken, reserved)
			}
		})
	}
}

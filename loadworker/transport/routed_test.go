// The race detector looks at the tests of this file, too: clients of several targets.

package transport_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

func TestRoutedSendsToTheTargetOfTheRequest(t *testing.T) {
	answer := func(status int) dial.Config {
		return scripted.Protocols(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))["HTTP/1.1"]
	}
	first, other := http1.NewClient(scripted.NewDialer(t, answer(201)), ""), nethttp.NewClient(scripted.NewDialer(t, answer(202)), "")
	client := transport.NewRouted(first, other)
	conn, ok := client.NewConn().(*transport.RoutedConn)
	if !ok || conn.Targets() != 2 {
		t.Fatalf("%T to %d targets", conn, conn.Targets())
	}
	for _, target := range []int{0, 1, 1, 0} {
		got, err := conn.Do(context.Background(), &transport.Request{Target: target, Method: "GET", Path: []byte("/")}, scripted.Far())
		must.Succeed(t, err)
		if got.Status != 201+target || !conn.IsOpen() || !conn.Alive() {
			t.Errorf("target %d answers %d, open %t", target, got.Status, conn.IsOpen())
		}
	}
	if client.Opened() != 2 || first.Opened() != 1 {
		t.Errorf("%d connections were opened, want one to each target", client.Opened())
	}
	if want := fmt.Sprintf("%s, %s, 2 targets", first.Name(), other.Name()); client.Name() != want {
		t.Errorf("named %q, want %q", client.Name(), want)
	}
	conn.Interrupt()
	for target := range 2 {
		if _, err := conn.Do(context.Background(), &transport.Request{Target: target, Method: "GET", Path: []byte("/")}, scripted.Far()); err == nil {
			t.Errorf("target %d is asked after an interrupt", target)
		}
	}
	conn.Resume()
	conn.Close()
	for target := range 2 {
		if conn.Select(target); conn.IsOpen() {
			t.Errorf("the connection to target %d is open after Close", target)
		}
		must.Succeed(t, conn.Open(context.Background(), scripted.Far()))
		if !conn.IsOpen() {
			t.Errorf("the connection to target %d is not open after Open", target)
		}
	}
}

// Requests of WebSocket have a connection of their own where others have one, too, and what opens connections ahead
// sees one to each target.
func TestMixedSendsRequestsOfWebSocketApart(t *testing.T) {
	answer := func(status int) *http1.Client {
		return http1.NewClient(scripted.NewDialer(t, scripted.Protocols(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))["HTTP/1.1"]), "")
	}
	client := transport.NewMixed([]transport.Client{answer(201), answer(202), answer(203)}, []transport.Client{nil, answer(204), nil})
	conn, ok := client.NewConn().(*transport.RoutedConn)
	if !ok || conn.Targets() != 3 {
		t.Fatalf("%T to %d targets", conn, conn.Targets())
	}
	defer conn.Close()
	got := ""
	for _, webSocket := range []*transport.WebSocket{nil, {}} {
		for target := range 3 {
			r := &transport.Request{Target: target, Method: "GET", Path: []byte("/"), WebSocket: webSocket}
			response, err := conn.Do(context.Background(), r, scripted.Far())
			must.Succeed(t, err)
			got += fmt.Sprint(response.Status, " ")
		}
	}
	if want := "201 202 203 201 204 203 "; got != want {
		t.Errorf("the clients of %s have sent them, want %s", got, want)
	}
	if want := "http1, 3 targets"; client.Name() != want {
		t.Errorf("named %q, want %q", client.Name(), want)
	}
}

package main

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestDialReportsOpenAndClosedPorts(t *testing.T) {
	server := httptest.NewServer(handler())
	address := strings.TrimPrefix(server.URL, "http://")
	for _, want := range []string{"open\n", "closed\n"} {
		var out bytes.Buffer
		if err := run(t.Context(), []string{"dial", address}, &out); err != nil || out.String() != want {
			t.Errorf("dial prints %q, %v, want %q", out.String(), err, want)
		}
		server.Close()
	}
}

// cutter closes each connection of a server as soon as it is accepted.
type cutter struct {
	bytes.Buffer
	server *httptest.Server
}

func (c *cutter) Write(text []byte) (int, error) {
	if string(text) == "open\n" {
		c.server.CloseClientConnections()
	}
	return c.Buffer.Write(text)
}

func TestHoldEndsWithItsConnection(t *testing.T) {
	server := httptest.NewServer(handler())
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	out := &cutter{server: server}
	if err := run(t.Context(), []string{"hold", address}, out); err != nil || out.String() != "open\ncut\n" {
		t.Errorf("hold prints %q, %v, want open and then cut", out.String(), err)
	}
	server.Close()
	if err := run(t.Context(), []string{"hold", address}, out); err == nil {
		t.Error("hold of a closed port succeeds")
	}
}

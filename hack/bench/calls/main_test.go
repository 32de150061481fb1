package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestCallsAreAnsweredAndCounted(t *testing.T) {
	client, stop := start(t, 0)
	before := groundtruth.Now()
	for _, text := range []string{"a", "", "b"} {
		reply, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{Service: text})
		want, state := codes.OK, healthpb.HealthCheckResponse_SERVING
		if text == "" {
			want, state = codes.InvalidArgument, healthpb.HealthCheckResponse_UNKNOWN
		}
		if status.Code(err) != want || reply.GetStatus() != state {
			t.Errorf("%q: %v, %v", text, reply, err)
		}
	}
	c := stop()
	if c.Requests != 3 || c.Answered != 2 || c.Connections != 1 || c.InFlight != 0 || c.PeakInFlight != 1 {
		t.Errorf("counted %+v; want 3 calls over 1 connection, of which 2 were answered", c)
	}
	if c.First < before || c.Last < c.First || c.Last > groundtruth.Now() {
		t.Errorf("calls came from %d to %d, began at %d", c.First, c.Last, before)
	}
}

// A call whose client went away before its reply is not counted as answered.
func TestRepliesAreHeld(t *testing.T) {
	client, stop := start(t, time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Check(ctx, &healthpb.HealthCheckRequest{Service: "a"})
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("the call ended with %v", err)
	}
	if c := stop(); c.Requests > 1 || c.Answered != 0 || c.InFlight != 0 {
		t.Errorf("counted %+v", c)
	}
}

// start runs the command until stop, which returns what it counted.
func start(t *testing.T, hold time.Duration) (client healthpb.HealthClient, stop func() groundtruth.Counters) {
	t.Helper()
	stdin, end := io.Pipe()
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(stdin, stdout, hold) }()
	lines := bufio.NewReader(out)
	read := func(into any) {
		t.Helper()
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, into)
		}
		must.Succeed(t, err)
	}
	var started Started
	read(&started)
	conn, err := grpc.NewClient(strings.TrimPrefix(started.URL, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	must.Succeed(t, err)
	return healthpb.NewHealthClient(conn), func() (c groundtruth.Counters) {
		_ = conn.Close()
		_ = end.Close()
		read(&c)
		must.Report(t, "run", <-ended)
		return c
	}
}

package session

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// An assignment is accepted once, and only the worker's own, which then runs: a coordinator
// that was restarted sends it again.
func TestOnlyTheFirstOwnAssignmentIsAccepted(t *testing.T) {
	var log bytes.Buffer
	c := startFakeCoordinator(t)
	w := startWorker(t, c, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	own := workertest.Assignment(workertest.NewTarget(t, nil).URL, workertest.Burst(0, 1, 1))
	s := c.waitForHello(t)
	for _, change := range []func(*workerv1.Assignment){
		func(a *workerv1.Assignment) { a.Run = "run-2" },
		func(a *workerv1.Assignment) { a.Worker = 1 },
		func(*workerv1.Assignment) {},
		func(*workerv1.Assignment) {},
		func(a *workerv1.Assignment) { a.Steps[0] = workertest.Burst(0, 9, 9) },
	} {
		a := proto.CloneOf(own)
		change(a)
		s.send(t, assign(a))
	}
	c.waitUntilReady(t)
	s.send(t, start(7, 0)) // no such step
	s.send(t, start(0, 0))
	if _, got := c.waitForFinal(t, 0); got.Requests[0].Sent != 1 {
		t.Errorf("sent %d, want 1", got.Requests[0].Sent)
	}
	w.finish(t, s)
	for text, want := range map[string]int{"msg=assigned ": 1, "assignment of another worker is ignored": 2, "a second assignment differs": 1} {
		if got := strings.Count(log.String(), text); got != want {
			t.Errorf("the log has %q %d times, want %d:\n%s", text, got, want, log.String())
		}
	}
}

// The log has the figures of the final snapshots.
func TestLogHasACopyOfEachResult(t *testing.T) {
	var log bytes.Buffer
	server := workertest.NewTarget(t, nil)
	a := workertest.Assignment(server.URL, workertest.Burst(0, 3, 7), workertest.Burst(2, 2, 2))
	c, w, s := readyWorker(t, a, func(c *Config) { c.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	var results []*measure.Measurement
	for _, step := range []int32{0, 2} {
		s.send(t, start(step, 0))
		_, got := c.waitForFinal(t, step)
		results = append(results, got)
	}
	w.finish(t, s)

	type line struct {
		Level, Msg, Histogram string
		Step                  int32
		Due, Sent             int64
	}
	var found []line
	for text := range bytes.Lines(log.Bytes()) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if l.Msg == "step ended" {
			found = append(found, l)
		}
	}
	if len(found) != 2 || found[0].Step != 0 || found[1].Step != 2 {
		t.Fatalf("lines %+v, want one for each step", found)
	}
	for i, l := range found {
		total, err := results[i].Total()
		must.Succeed(t, err)
		h, err := measure.DecodeHistogram(l.Histogram, 0)
		must.Succeed(t, err)
		if l.Level != "INFO" || l.Due != results[i].Due || l.Sent != total.Sent || h.Count() != total.Response.Count() || h.Max() != total.Response.Max() {
			t.Errorf("%+v with %d times up to %v; the result has %d due, %d sent, %d times up to %v",
				l, h.Count(), h.Max(), results[i].Due, total.Sent, total.Response.Count(), total.Response.Max())
		}
	}
}

package coordinator

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// attached is a session of a directed run.
func attached(t *testing.T, c *Coordinator, run RunID, number int32) *session {
	t.Helper()
	s := sessionOf(run, number)
	must.Succeed(t, c.attach(s))
	return s
}

// What is kept of a run is what its latest snapshots and its ledgers take.
func TestKeptSnapshotsAreCounted(t *testing.T) {
	c, _, _ := newIdleCoordinator()
	c.Direct("a", audited(2, 0))
	c.Direct("b", running("b", 1, 0))
	a, b := attached(t, c, "a", 0), attached(t, c, "b", 0)
	if err := errors.Join(
		c.snapshot(a, snapshot(t, 0, 1, false, 1000)), c.snapshot(a, snapshot(t, 0, 2, false, 10)),
		c.snapshot(a, withLedgers(t, 0, "x", 100)), c.snapshot(b, snapshot(t, 0, 1, false, 100)),
	); err != nil {
		t.Fatal(err)
	}
	ledgers := c.runs["a"].finals.bytes()
	if want := c.runs["a"].workers[0].snapshots[0].size + ledgers; ledgers == 0 || c.runs["a"].kept != want {
		t.Errorf("%d bytes are kept of the run, want %d", c.runs["a"].kept, want)
	}
	if want := c.runs["a"].kept + c.runs["b"].kept; c.kept != want {
		t.Errorf("%d bytes are kept, want %d", c.kept, want)
	}
	c.Forget("a")
	if want := c.runs["b"].kept; c.kept != want || want == 0 {
		t.Errorf("%d bytes are kept of the other run, want %d", c.kept, want)
	}
	d := running("b", 1, 2)
	c.Direct("b", d)
	if c.kept != 0 {
		t.Errorf("%d bytes are kept of steps that are stored", c.kept)
	}
}

// A run that takes more than there is for one ends with the reason.
func TestRunWithoutRoomIsAnError(t *testing.T) {
	c, sessions := directed(t, running("a", 2, 0))
	must.Succeed(t, c.snapshot(sessions[0], snapshot(t, 0, 1, false, 10)))
	c.keep(c.runs["a"], maxKeptOfRun-c.kept)
	must.Succeed(t, c.snapshot(sessions[1], snapshot(t, 0, 1, true, 10)))
	if o := c.Observe("a"); o.Step == nil || o.Step.Merged != nil || o.Step.Err == nil || !strings.Contains(o.Step.Err.Error(), "use fewer workers or fewer requests") {
		t.Errorf("observed %+v, want the way out", o.Step)
	}
}

// When the room of all is used up, a run below its share still has room, and one above
// it sends its results again.
func TestRoomIsShared(t *testing.T) {
	c, _, _ := newIdleCoordinator()
	for _, run := range []string{"greedy", "large", "small"} {
		c.Direct(RunID(run), running(run, 1, 0))
	}
	c.keep(c.runs["greedy"], maxKeptOfRun)
	c.keep(c.runs["large"], maxKept-maxKeptOfRun+1<<20)
	large, small := attached(t, c, "large", 0), attached(t, c, "small", 0)
	if err := c.snapshot(small, snapshot(t, 0, 1, false, 10)); err != nil || sent(c.Observe("small")) != 10 {
		t.Errorf("a run below its share: %v, sent %d", err, sent(c.Observe("small")))
	}
	if err := c.snapshot(large, snapshot(t, 0, 1, false, 10)); err != nil || sent(c.Observe("large")) != -1 {
		t.Errorf("a run above it, while it runs: %v, sent %d", err, sent(c.Observe("large")))
	}
	if err := c.snapshot(large, snapshot(t, 0, 2, true, 10)); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("its result: %v, want that there is no room now", err)
	}
	c.Forget("greedy")
	if err := c.snapshot(large, snapshot(t, 0, 2, true, 10)); err != nil || sent(c.Observe("large")) != 10 {
		t.Errorf("its result, again: %v, sent %d", err, sent(c.Observe("large")))
	}
}

// A message of empty parts takes a hundred times its size in memory.
func TestMessagesOfTooManyPartsAreRefused(t *testing.T) {
	parts := func(n int, one *workerv1.StepMeasurement) []byte {
		b, err := proto.Marshal(one)
		must.Succeed(t, err)
		return nested(bytes.Repeat(b, n))
	}
	for name, tc := range map[string]struct {
		part *workerv1.StepMeasurement
		n    int
		ok   bool
	}{
		"requests":      {&workerv1.StepMeasurement{Requests: []*workerv1.RequestMeasurement{{}}}, maxNested, false},
		"journeys":      {&workerv1.StepMeasurement{Journeys: []*workerv1.JourneyMeasurement{{}}}, maxNested, false},
		"as many":       {&workerv1.StepMeasurement{Journeys: []*workerv1.JourneyMeasurement{{}}}, maxNested - 2, true},
		"status codes":  {&workerv1.StepMeasurement{Requests: []*workerv1.RequestMeasurement{{StatusCodes: map[int32]int64{1: 1}}}}, maxNested, false},
		"names":         {&workerv1.StepMeasurement{Clients: &workerv1.Clients{Names: make([]string, maxTexts+1)}}, 1, false},
		"as many names": {&workerv1.StepMeasurement{Clients: &workerv1.Clients{Names: make([]string, maxTexts)}}, 1, true},
		"numbers":       {&workerv1.StepMeasurement{Clients: &workerv1.Clients{Granted: make([]int64, maxNumbers+1)}}, 1, false},
		"many numbers":  {&workerv1.StepMeasurement{Clients: &workerv1.Clients{Granted: make([]int64, maxNumbers)}}, 1, true},
		"other numbers": {&workerv1.StepMeasurement{Due: 1}, maxNumbers + 1, false},
	} {
		err := newCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(parts(tc.n, tc.part))}, &workerv1.SessionRequest{})
		if (err == nil) != tc.ok {
			t.Errorf("%d times %s: %v, want ok %t", tc.n, name, err, tc.ok)
		}
	}
	for _, broken := range []string{"\x22\xff\xff\xff\x7f", "\x80", strings.Repeat("\x0b", 70_000), "\x22\x05\x22\x80\x80\x80\x01"} {
		if err := newCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(broken)}, &workerv1.SessionRequest{}); err == nil {
			t.Errorf("%.10q was decoded", broken)
		}
	}
}

// nested is a request with a snapshot of a measurement of that encoding.
func nested(measurement []byte) []byte {
	b := protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), measurement) // Snapshot.measurement
	return protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), b)         // SessionRequest.snapshot
}

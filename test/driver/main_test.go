package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const (
	head = `{"target":{"url":"%s","timeoutNanos":"60000000000","allowSpecialAddresses":true},` +
		`"requests":[{"name":"get","weight":1,"method":"GET","path":"/${seq}"}],"steps":[`
	burst = `{"index":%d,"share":{"stride":"1","count":"3"},"total":"3","burst":{"requestsPerUser":2,"limitNanos":"60000000000"}}`
)

// Two steps are run on one assignment, at the instants that are given, and their
// connections are open when the driver says that it is ready.
func TestRun(t *testing.T) {
	s, err := groundtruth.Start(groundtruth.Config{Record: 100})
	must.Succeed(t, err)
	t.Cleanup(s.Close)
	stdin, input := io.Pipe()
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(stdin, stdout, 10, time.Minute) }()
	fmt.Fprintf(input, head+burst+","+burst+"]}\n", s.URL(), 0, 4)
	answers := bufio.NewReader(out)
	if a := readAnswer(t, answers); !a.Ready {
		t.Errorf("the first answer is %+v, want that it is ready", a)
	}
	for i, index := range []int32{0, 4} {
		at := groundtruth.Now() + int64(20*time.Millisecond)
		fmt.Fprintf(input, "start %d %d\n", index, at)
		a := readAnswer(t, answers)
		m := &workerv1.StepMeasurement{}
		must.Succeed(t, protojson.Unmarshal(a.Measurement, m))
		step, err := wire.Decode(m, 1)
		must.Succeed(t, err)
		if a.Step != index || step.Requests[0].Sent != 6 || step.FirstStart.IsZero() {
			t.Errorf("step %d sent %d requests from %v; want step %d and 6", a.Step, step.Requests[0].Sent, step.FirstStart, index)
		}
		for _, r := range s.Records()[6*i:] {
			if r.Received < at {
				t.Errorf("a request came %v early", time.Duration(at-r.Received))
			}
		}
	}
	_ = input.Close()
	if err := <-ended; err != nil {
		t.Errorf("run = %v", err)
	}
	if got := s.Counters().Connections; got != 3 {
		t.Errorf("%d connections for 3 users in two steps", got)
	}
}

func readAnswer(t *testing.T, r *bufio.Reader) (a Answer) {
	t.Helper()
	line, err := r.ReadBytes('\n')
	must.Succeed(t, err)
	must.Succeed(t, json.Unmarshal(line, &a))
	return a
}

func TestRunRefuses(t *testing.T) {
	assignment := fmt.Sprintf(head+burst+"]}\n", "http://127.0.0.1:1", 0)
	tests := map[string]struct{ input, want string }{
		"nothing":               {"", "no assignment on standard input"},
		"no JSON":               {"x\n", "assignment: "},
		"no requests":           {`{"target":{"url":"http://x"}}` + "\n", "there must be at least one"},
		"another word":          {assignment + "stop\n", `"stop": must be start, a step and an instant`},
		"a step that is none":   {assignment + "start 7 1\n", "step 7 is not in the assignment"},
		"a step without a load": {strings.Replace(assignment, `"requestsPerUser":2`, `"requestsPerUser":0`, 1), "requests per user must be at least 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(strings.NewReader(tt.input), io.Discard, 10, time.Second)
			must.Say(t, err, tt.want)
		})
	}
}

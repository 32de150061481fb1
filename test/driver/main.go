package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/background"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// Answer is a line of output.
type Answer struct {
	Ready       bool            `json:"ready,omitempty"`
	Step        int32           `json:"step"`
	Measurement json.RawMessage `json:"measurement,omitempty"`
}

const (
	// snapshotEvery is how often a session sends a snapshot.
	snapshotEvery = time.Second
	// maxLine bounds a line of input.
	maxLine = 4 << 20
)

func main() {
	connections := flag.Int64("max-connections", 0, "`bound` of the connections (default as many as the system grants)")
	opening := flag.Duration("open-for", 10*time.Second, "how `long` connections may be opened beforehand")
	flag.Parse()
	attack.SpareProcessor()
	attack.CollectSeldom(os.Getenv)
	if err := run(os.Stdin, os.Stdout, *connections, *opening); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

func run(stdin io.Reader, stdout io.Writer, connections int64, opening time.Duration) error {
	lines := bufio.NewScanner(stdin)
	lines.Buffer(nil, maxLine)
	if !lines.Scan() {
		return errors.Join(errors.New("no assignment on standard input"), lines.Err())
	}
	assignment := &workerv1.Assignment{}
	if err := protojson.Unmarshal(lines.Bytes(), assignment); err != nil {
		return fmt.Errorf("assignment: %w", err)
	}
	limits := health.SystemLimits()
	if connections > 0 {
		limits.Ports = min(limits.Ports, connections)
	}
	worker, err := assemble.New(context.Background(), assignment, assemble.Config{Version: "driver", Limits: limits}, func(error) {})
	if err != nil {
		return err
	}
	defer worker.Close()
	if first, ok := worker.StepAfter(-1); ok {
		ctx, cancel := context.WithTimeout(context.Background(), opening)
		worker.Runner(first).Prepare(ctx, first)
		cancel()
	}
	out := json.NewEncoder(stdout)
	if err := out.Encode(Answer{Ready: true}); err != nil {
		return err
	}
	for lines.Scan() {
		answer, err := runStep(lines.Text(), worker, assignment)
		if err != nil {
			return err
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// runStep runs the step that a line names.
func runStep(line string, worker *assemble.Assembly, a *workerv1.Assignment) (Answer, error) {
	var index int32
	var at int64
	if _, err := fmt.Sscanf(strings.TrimSpace(line), "start %d %d", &index, &at); err != nil {
		return Answer{}, fmt.Errorf("%q: must be start, a step and an instant", line)
	}
	step, err := worker.Step(index)
	if err != nil {
		return Answer{}, err
	}
	m, err := measure(worker.Runner(step).Start(step, groundtruth.Instant(at)), a)
	if err != nil {
		return Answer{}, fmt.Errorf("step %d: %w", index, err)
	}
	text, err := protojson.Marshal(m)
	return Answer{Step: index, Measurement: text}, err
}

// measure waits for the end of a step. It encodes a snapshot every second, as a
// session does, and discards it.
func measure(x *attack.Execution, a *workerv1.Assignment) (*workerv1.StepMeasurement, error) {
	ticker := time.NewTicker(snapshotEvery)
	defer ticker.Stop()
	thread := background.Start()
	defer thread.Close()
	for {
		select {
		case <-ticker.C:
			var err error
			if thread.Run(func() { err = encodeLive(x, a) }); err != nil {
				return nil, err
			}
		case <-x.Done():
			return snapshot(x)
		}
	}
}

// encodeLive encodes a snapshot of a step that runs, for a coordinator that reads packed histograms.
func encodeLive(x *attack.Execution, a *workerv1.Assignment) error {
	s, err := x.Snapshot()
	if err != nil {
		return err
	}
	if !a.GetLiveIdeal() {
		s.DropIdeal()
	}
	m, err := wire.EncodeGroups(s, a.GetGroups(), true)
	if err != nil {
		return err
	}
	_, err = proto.Marshal(m)
	return err
}

func snapshot(x *attack.Execution) (*workerv1.StepMeasurement, error) {
	s, err := x.Snapshot()
	if err != nil {
		return nil, err
	}
	if began, ok := x.Began(); ok {
		s.FirstStart, s.LastStart = began, began
	}
	return wire.Encode(s)
}

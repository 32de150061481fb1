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
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/session"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/solo"
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
	connections := flag.Int("max-connections", 10_000, "`bound` of the connections of arrivals")
	opening := flag.Duration("open-for", 10*time.Second, "how `long` connections may be opened beforehand")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *connections, *opening); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

func run(stdin io.Reader, stdout io.Writer, connections int, opening time.Duration) error {
	lines := bufio.NewScanner(stdin)
	lines.Buffer(nil, maxLine)
	if !lines.Scan() {
		return errors.Join(errors.New("no assignment on standard input"), lines.Err())
	}
	assignment := &workerv1.Assignment{}
	if err := protojson.Unmarshal(lines.Bytes(), assignment); err != nil {
		return fmt.Errorf("assignment: %w", err)
	}
	runner, err := solo.NewRunner(assignment, solo.Options{MaxConnections: connections})
	if err != nil {
		return err
	}
	defer runner.Close()
	if steps := assignment.GetSteps(); len(steps) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), opening)
		runner.Prepare(ctx, session.StepOf(steps[0]))
		cancel()
	}
	out := json.NewEncoder(stdout)
	if err := out.Encode(Answer{Ready: true}); err != nil {
		return err
	}
	for lines.Scan() {
		answer, err := obey(lines.Text(), assignment, runner)
		if err != nil {
			return err
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// obey runs the step that a line names.
func obey(line string, assignment *workerv1.Assignment, runner *attack.Runner) (Answer, error) {
	var index int32
	var at int64
	if _, err := fmt.Sscanf(strings.TrimSpace(line), "start %d %d", &index, &at); err != nil {
		return Answer{}, fmt.Errorf("%q: must be start, a step and an instant", line)
	}
	for _, s := range assignment.GetSteps() {
		if s.GetIndex() != index {
			continue
		}
		step := session.StepOf(s)
		if err := step.Check(); err != nil {
			return Answer{}, err
		}
		m, err := drive(runner.Start(step, groundtruth.Instant(at)))
		if err != nil {
			return Answer{}, fmt.Errorf("step %d: %w", index, err)
		}
		text, err := protojson.Marshal(m)
		return Answer{Step: index, Measurement: text}, err
	}
	return Answer{}, fmt.Errorf("step %d is not in the assignment", index)
}

// drive waits for the end of a step. The snapshots before go nowhere.
func drive(x *attack.Execution) (*workerv1.StepMeasurement, error) {
	ticker := time.NewTicker(snapshotEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m, err := snapshot(x)
			if err != nil {
				return nil, err
			}
			if _, err := proto.Marshal(m); err != nil {
				return nil, err
			}
		case <-x.Done():
			return snapshot(x)
		}
	}
}

func snapshot(x *attack.Execution) (*workerv1.StepMeasurement, error) {
	s, err := x.Snapshot()
	if err != nil {
		return nil, err
	}
	if began, ok := x.Began(); ok {
		s.FirstStart, s.LastStart = began, began
	}
	return wire.FromStep(s)
}

package assemble

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/loadtest-dev/loadtest-operator/accesslog"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
)

// newLog makes the log of an assignment, which all steps send that send one; nil: none does.
func newLog(a *workerv1.Assignment) (*replay.Log, error) {
	length, err := replayLength(a)
	if length == 0 || err != nil {
		return nil, err
	}
	r := a.GetReplay()
	if r == nil {
		return nil, errors.New("replay: a step sends a log, and there is none")
	}
	c := replay.Config{
		File: r.GetFile(), Speed: r.GetSpeedMicros(), Duration: length, Methods: r.GetMethods(), MaxRate: r.GetMaxRateMicros(),
		Worker: a.GetWorker(), Workers: max(a.GetWorkers(), 1), Requests: len(a.GetRequests()),
	}
	if nanos := r.GetStartUnixNanos(); nanos != 0 {
		c.Start = time.Unix(0, nanos)
	}
	if text := r.GetFields(); text != "" {
		if c.Fields, err = accesslog.ParseFields(text); err != nil {
			return nil, fmt.Errorf("spec.replay.fields: %w", err)
		}
	}
	for i, route := range r.GetRoutes() {
		path, err := regexp.Compile(route.GetPath())
		if err != nil {
			return nil, fmt.Errorf("spec.replay.routes[%d].path: %w", i, err)
		}
		c.Routes = append(c.Routes, replay.Route{Path: path, Host: route.GetHost(), To: route.GetTo(), Request: int(route.GetRequest())})
	}
	return replay.New(c)
}

// replayLength is how long the steps last that send a log; 0: there are none.
func replayLength(a *workerv1.Assignment) (length time.Duration, err error) {
	for _, s := range a.GetSteps() {
		load, ok := s.GetLoad().(*workerv1.Step_Recorded)
		if !ok {
			continue
		}
		d := time.Duration(load.Recorded.GetDurationNanos())
		if d <= 0 || length != 0 && d != length {
			return 0, fmt.Errorf("replay: step %d lasts %v, which is not above 0 or not as long as another that sends the log", s.GetIndex(), d)
		}
		length = d
	}
	return length, nil
}

// survey reads the log before anything is sent.
func (x *Assembly) survey(ctx context.Context, notReady func(error)) error {
	if x.log == nil {
		return nil
	}
	notReady(errors.New("replay: the log is read"))
	err := x.log.Read(ctx, attack.Marks(x.log.Duration()), func(read, size int64) {
		notReady(fmt.Errorf("replay: %d %% of the log is read", 100*read/max(size, 1)))
	})
	if err != nil {
		return fmt.Errorf("spec.replay.from: %w", err)
	}
	return nil
}

// replayMemory is what the log takes.
func replayMemory(a *workerv1.Assignment) int64 {
	if a.GetReplay() == nil {
		return 0
	}
	return replay.Memory
}

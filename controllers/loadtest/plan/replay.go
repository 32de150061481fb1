package plan

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/accesslog"
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// replayName is the name of the step that replays a log.
const replayName = "replay"

// replayStep is the one step of a replay. How many requests are due in it, the workers find out: the
// operator does not read the log.
func replayStep(r *v1beta1.Replay) v1beta1.StepStatus {
	return v1beta1.StepStatus{Name: replayName, Load: v1beta1.StepLoad{Speed: replaySpeed(r), Duration: &r.Duration}}
}

// replaySpeed is the speed, its default applied.
func replaySpeed(r *v1beta1.Replay) *v1beta1.Decimal {
	if r.Speed != nil {
		return r.Speed
	}
	one := v1beta1.NewDecimal("1")
	return &one
}

// isRouted says whether a replay sends a request.
func isRouted(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) bool {
	return len(spec.Replay.Routes) == 0 || slices.ContainsFunc(spec.Replay.Routes, func(t v1beta1.ReplayRoute) bool { return t.Request == r.Name })
}

// replay is the log of an assignment; nil: none is replayed.
func replay(spec *v1beta1.LoadTestSpec) *workerv1.Replay {
	r := spec.Replay
	if r == nil {
		return nil
	}
	f, _ := contentFile(&r.From) // the schema requires one
	out := &workerv1.Replay{File: f.Path(), Fields: r.Fields, SpeedMicros: micros(replaySpeed(r)), MaxRateMicros: replayMicros(spec), Methods: []string{"GET", "HEAD"}}
	if r.Start != nil {
		out.StartUnixNanos = r.Start.UnixNano()
	}
	if len(r.Methods) > 0 {
		out.Methods = nil
	}
	for _, m := range r.Methods {
		out.Methods = append(out.Methods, string(m))
	}
	for _, t := range r.Routes {
		out.Routes = append(out.Routes, &workerv1.Route{Path: t.Path, Host: t.Host, To: t.To, Request: requestIndex(spec, t.Request)})
	}
	if len(r.Routes) == 0 {
		out.Routes = []*workerv1.Route{{}}
	}
	return out
}

// checkReplay refuses a replay that no worker can carry out. What is wrong with the log, the workers
// find out before they send anything.
func checkReplay(spec *v1beta1.LoadTestSpec) *Refusal {
	r := spec.Replay
	if r == nil {
		return nil
	}
	switch {
	case spec.Ladder != nil || len(spec.Steps) > 0 || spec.Search != nil:
		return invalid("spec: exactly one of ladder, steps, search, replay and loads must be set.")
	case len(spec.Journeys) > 0:
		return invalid("spec.journeys: must not be set with replay, whose log says what is sent.")
	case spec.Worker != nil && spec.Worker.Driver == v1beta1.DriverVegeta:
		return invalid("spec.worker.driver: must not be Vegeta with replay; use driver Auto.")
	case len(r.Routes) == 0 && len(spec.Requests) != 1:
		return invalid("spec.replay.routes: must be set with more than one request, such as [{path: ^/items/, request: item}, {request: rest}].")
	}
	if refusal := checkWindow(r); refusal != nil {
		return refusal
	}
	return checkRoutes(spec)
}

// checkWindow refuses a window that is none, and fields that are not known.
func checkWindow(r *v1beta1.Replay) *Refusal {
	switch {
	case r.Duration.Duration < time.Second || r.Duration.Duration > 24*time.Hour:
		return invalid("spec.replay.duration: must be a time from 1s to 24h, such as 10m.")
	case r.Start != nil && (r.Start.Year() < 1970 || r.Start.Year() > 2261):
		return invalid("spec.replay.start: must be between 1970 and 2261, as the times of logs are.")
	}
	if r.Fields != "" {
		if _, err := accesslog.ParseFields(r.Fields); err != nil {
			return invalid("spec.replay.fields: %v.", err)
		}
	}
	return nil
}

func checkRoutes(spec *v1beta1.LoadTestSpec) *Refusal {
	for i, t := range spec.Replay.Routes {
		field := fmt.Sprintf("spec.replay.routes[%d]", i)
		if _, err := regexp.Compile(t.Path); err != nil {
			return invalid("%s.path: must be a regular expression (RE2), such as ^/items/: %v.", field, err)
		}
		if t.To != "" && t.Path == "" {
			return invalid("%s.to: must not be set without path, whose match it replaces.", field)
		}
		if requestIndex(spec, t.Request) < 0 {
			return invalid("%s.request: spec.requests has no request named %q.", field, t.Request)
		}
	}
	for i := range spec.Requests {
		if r := &spec.Requests[i]; isRouted(spec, r) && (r.HTTP == nil || hasTargets(r)) {
			return invalid("spec.requests[%d]: must have http without targets, since spec.replay sends lines of a log as it.", i)
		}
	}
	return nil
}

// replayMicros bounds the rate of a replay, which the operator does not know before it runs, in
// millionths of a request per second: its default is as much as the workers send elsewhere.
func replayMicros(spec *v1beta1.LoadTestSpec) int64 {
	if spec.Replay.MaxRate != nil {
		return micros(spec.Replay.MaxRate)
	}
	return max(int64(ptr.Deref(spec.Parallelism, 1)), 1) * perWorker * micro
}

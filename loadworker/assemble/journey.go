package assemble

import (
	"fmt"
	"slices"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// toJourneys are the journeys of an assignment whose data are in the tables, in the same
// order.
func toJourneys(a *workerv1.Assignment, tables []*source.Table) ([]source.Journey, error) {
	var list []source.Journey
	for _, j := range a.GetJourneys() {
		journey := source.Journey{Name: j.GetName(), Weight: j.GetWeight(), TimeLimit: time.Duration(j.GetTimeLimitNanos()), KeepValues: j.GetKeepValues()}
		if name := j.GetUserData(); name != "" {
			i := slices.IndexFunc(a.GetData(), func(d *workerv1.Data) bool { return d.GetName() == name })
			if i < 0 {
				return nil, fmt.Errorf("journey %q: user.data: there is no data %q", j.GetName(), name)
			}
			journey.User = tables[i]
		}
		for i, s := range j.GetSteps() {
			step := source.JourneyStep{
				Request: int(s.GetRequest()), Times: int(s.GetTimes()), Capture: s.GetCapture(), Think: thinkOf(s.GetThink()),
				If: s.GetIf(), Until: s.GetUntil(), AtMost: int(s.GetAtMost()), Every: time.Duration(s.GetEveryNanos()),
			}
			for _, c := range s.GetCaptures() {
				step.CaptureFrom = append(step.CaptureFrom, source.Capture{
					Name: c.GetName(), Header: c.GetHeader(), Cookie: c.GetCookie(), Match: c.GetMatch(), Select: c.GetSelect(), Attribute: c.GetAttribute(),
				})
			}
			if err := step.Think.Check(); err != nil {
				return nil, fmt.Errorf("journey %q: steps[%d].think: %w", j.GetName(), i, err)
			}
			journey.Steps = append(journey.Steps, step)
		}
		list = append(list, journey)
	}
	return list, nil
}

// userMemory is what a user of the journeys takes besides its connection, at most.
func userMemory(a *workerv1.Assignment) int64 {
	fields := false
	for _, r := range a.GetRequests() {
		fields = fields || r.GetFollowRedirects() > 0
	}
	if len(a.GetJourneys()) == 0 {
		if fields {
			return transport.MaxFields
		}
		return 0
	}
	names := map[string]bool{}
	for _, j := range a.GetJourneys() {
		for _, s := range j.GetSteps() {
			for name := range s.GetCapture() {
				names[name] = true
			}
			for _, c := range s.GetCaptures() {
				names[c.GetName()] = true
				fields = fields || c.GetHeader() != ""
			}
		}
	}
	return source.UserMemory(len(names), 1+len(a.GetOtherTargets()), fields)
}

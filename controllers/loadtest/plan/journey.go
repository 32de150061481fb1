package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/selector"
)

// journeys are the journeys as workers take them.
func journeys(spec *v1beta1.LoadTestSpec) []*workerv1.Journey {
	var list []*workerv1.Journey
	for i := range spec.Journeys {
		j := &spec.Journeys[i]
		w := &workerv1.Journey{Name: j.Name, Weight: 1, TimeLimitNanos: int64(v1beta1.OrZero(j.TimeLimit)), KeepValues: j.KeepValues}
		if j.Weight != nil {
			w.Weight = *j.Weight
		}
		if j.User != nil {
			w.UserData = j.User.Data
		}
		for n := range j.Steps {
			w.Steps = append(w.Steps, journeyStep(spec, &j.Steps[n]))
		}
		list = append(list, w)
	}
	return list
}

func journeyStep(spec *v1beta1.LoadTestSpec, s *v1beta1.JourneyStep) *workerv1.JourneyStep {
	if s.Think != nil {
		return &workerv1.JourneyStep{Think: think(s.Think), If: s.If}
	}
	w := &workerv1.JourneyStep{Request: requestIndex(spec, s.RequestName()), Times: max(s.Times, 1), If: s.If}
	if r := s.Repeat; r != nil {
		w.Until, w.AtMost, w.EveryNanos = r.Until, r.AtMost, int64(v1beta1.OrZero(r.Every))
	}
	capture, from := s.Captures()
	for name, path := range capture {
		if w.Capture == nil {
			w.Capture = map[string]string{}
		}
		w.Capture[name] = string(path)
	}
	for i := range from {
		c := &from[i]
		w.Captures = append(w.Captures, &workerv1.Capture{Name: c.Name, Header: c.Header, Cookie: c.Cookie, Match: c.Match, Select: c.Select, Attribute: c.Attribute})
	}
	return w
}

// inJourney says whether a journey sends the request.
func inJourney(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) bool {
	return r.Name != "" && slices.ContainsFunc(spec.Journeys, func(j v1beta1.Journey) bool {
		return slices.ContainsFunc(j.Steps, func(s v1beta1.JourneyStep) bool { return s.RequestName() == r.Name })
	})
}

// longestWaits is the most that a user waits in one journey; no more than MaxBurst, which
// is the most that it is needed for.
func longestWaits(spec *v1beta1.LoadTestSpec) time.Duration {
	var most time.Duration
	for i := range spec.Journeys {
		var sum time.Duration
		for _, s := range spec.Journeys[i].Steps {
			_, longest := s.Think.Range()
			if r := s.Repeat; r != nil {
				longest += time.Duration(r.AtMost-1) * v1beta1.OrZero(r.Every)
			}
			sum = min(sum+longest, MaxBurst) // which a sum of many could exceed
		}
		most = max(most, sum)
	}
	return most
}

// checkJourneys refuses journeys that name what is not there, and those of loads that
// cannot carry them out.
func checkJourneys(spec *v1beta1.LoadTestSpec) *Refusal {
	if len(spec.Journeys) == 0 {
		return nil
	}
	if spec.Search != nil && spec.Search.Rate != nil {
		return invalid("spec.journeys: must not be set with spec.search.rate, which searches for a rate of requests; set search.users, or steps with a rate.")
	}
	if driver(spec) == workerv1.Driver_DRIVER_VEGETA {
		return invalid("spec.worker.driver: Vegeta does not carry out spec.journeys; use driver Auto.")
	}
	for i := range spec.Journeys {
		if refusal := checkKeptValues(spec, i, &spec.Journeys[i]); refusal != nil {
			return refusal
		}
		if refusal := checkJourney(spec, i, &spec.Journeys[i]); refusal != nil {
			return refusal
		}
	}
	return checkConditions(spec)
}

// checkKeptValues refuses to keep values of users who come once, and of some of the journeys that users carry out.
func checkKeptValues(spec *v1beta1.LoadTestSpec, i int, j *v1beta1.Journey) *Refusal {
	switch {
	case j.KeepValues && hasRate(spec):
		return invalid("spec.journeys[%d].keepValues: must not be set with a rate, whose sessions are users who come once; set users in place of the rate.", i)
	case j.KeepValues != spec.Journeys[0].KeepValues:
		return invalid("spec.journeys[%d].keepValues: must be the same as of journey %s, since the same users carry out both.", i, spec.Journeys[0].Name)
	}
	return nil
}

// hasRate says whether a step has a rate, with which sessions arrive.
func hasRate(spec *v1beta1.LoadTestSpec) bool {
	return spec.Ladder != nil && len(spec.Ladder.Rates) > 0 || slices.ContainsFunc(spec.Steps, func(s v1beta1.Step) bool { return s.Rate != nil })
}

func checkJourney(spec *v1beta1.LoadTestSpec, i int, j *v1beta1.Journey) *Refusal {
	if j.User != nil && !slices.ContainsFunc(spec.Data, func(d v1beta1.Data) bool { return d.Name == j.User.Data }) {
		return invalid("spec.journeys[%d].user.data: spec.data has no table named %q.", i, j.User.Data)
	}
	for n := range j.Steps {
		s := &j.Steps[n]
		if err := s.Think.Check(); err != nil {
			return invalid("spec.journeys[%d].steps[%d].think: %v.", i, n, err)
		}
		at := fmt.Sprintf("spec.journeys[%d].steps[%d]", i, n)
		if s.Repeat != nil {
			at += ".repeat"
		}
		switch {
		case s.Think != nil && hasRatePerUser(spec):
			return invalid("%s.think: must not be set with ratePerUser, which says when a user's requests are due.", at)
		case s.Repeat != nil && v1beta1.OrZero(s.Repeat.Every) > 0 && hasRatePerUser(spec):
			return invalid("%s.every: must not be set with ratePerUser, which says when a user's requests are due.", at)
		case s.Think == nil && requestIndex(spec, s.RequestName()) < 0:
			return invalid("%s.request: spec.requests has no request named %q.", at, s.RequestName())
		}
		if refusal := checkCaptures(spec, at, s); refusal != nil {
			return refusal
		}
	}
	return nil
}

// checkCaptures refuses captures of a step that cannot be: what the API server does not know, such as regular
// expressions, and names that are captured elsewhere too.
func checkCaptures(spec *v1beta1.LoadTestSpec, at string, s *v1beta1.JourneyStep) *Refusal {
	var filled map[string]v1beta1.JSONPath
	if spec.Setup != nil && spec.Setup.Fill != nil {
		filled = spec.Setup.Fill.Capture
	}
	capture, from := s.Captures()
	for _, name := range slices.Sorted(maps.Keys(capture)) {
		if _, inSetup := filled[name]; inSetup {
			return invalid("%s.capture: setup.fill captures %q; use another name.", at, name)
		}
	}
	if len(capture)+len(from) > 0 && spec.Requests[requestIndex(spec, s.RequestName())].WebSocket != nil {
		return invalid("%s: must not capture from a request with webSocket, whose messages are not kept.", at)
	}
	field := at + ".captureFrom"
	for i := range from {
		c := &from[i]
		_, twice := capture[c.Name]
		_, inSetup := filled[c.Name]
		noHeader, wrong, noSelector := c.CheckHeader(), c.CheckMatch(), checkSelect(c)
		switch {
		case twice:
			return invalid("%s[%d].name: capture has %q too; leave out one of them.", field, i, c.Name)
		case inSetup:
			return invalid("%s[%d].name: setup.fill captures %q; use another name.", field, i, c.Name)
		case noHeader != nil:
			return invalid("%s[%d].header: %v.", field, i, noHeader)
		case wrong != nil:
			return invalid("%s[%d].match: %v.", field, i, wrong)
		case noSelector != nil:
			return invalid("%s[%d].select: %v.", field, i, noSelector)
		case spec.Requests[requestIndex(spec, s.RequestName())].GRPC != nil:
			return invalid("%s: must not be set with a call of gRPC, whose replies are JSON; use capture.", field)
		}
	}
	return nil
}

// checkSelect returns an error for a selector that is none. It returns nil without one.
func checkSelect(c *v1beta1.Capture) error {
	if c.Select == "" {
		return nil
	}
	_, err := selector.Compile(c.Select)
	return err
}

func hasRatePerUser(spec *v1beta1.LoadTestSpec) bool {
	return spec.Ladder != nil && spec.Ladder.RatePerUser != nil || spec.Search != nil && spec.Search.RatePerUser != nil ||
		slices.ContainsFunc(spec.Steps, func(s v1beta1.Step) bool { return s.RatePerUser != nil })
}

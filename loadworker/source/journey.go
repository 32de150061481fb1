package source

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/cookie"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Journey is what a user does, in order.
type Journey struct {
	Name   string
	Weight int32
	// User is the table of which each user has a row, always the same one; nil: none.
	User *Table
	// TimeLimit is how long it may take; 0: as long as it takes.
	TimeLimit time.Duration
	// KeepValues says that its user keeps what responses gave it, for later journeys: all do, or none.
	KeepValues bool
	Steps      []JourneyStep
}

// JourneyStep is a request of a journey, or a wait.
type JourneyStep struct {
	// Request is the index of the request, which is sent so many Times; 0 of a wait.
	Request, Times int
	// Capture is the path in the JSON body, by the name under which later requests have
	// the value.
	Capture map[string]string
	// CaptureFrom has the values that are no JSON.
	CaptureFrom []Capture
	// Think is the wait.
	Think pace.Think
	// If is a condition of package expression: the step is left out unless it holds. Empty: it is always
	// carried out.
	If string
	// Until is another one: the request is sent until it holds, at most AtMost times, with a wait of Every between.
	// Empty: it is sent as often as Times says.
	Until  string
	AtMost int
	Every  time.Duration
}

// maxTurns bounds the requests of a journey, those of a repeat counted once.
const maxTurns = 3200

// journey is a compiled Journey.
type journey struct {
	index int
	limit time.Duration
	user  int // the slot of the users' table, plus one; 0: none
	keeps bool
	lead  int // turns before the first that no condition leaves out
	turns []turn
	after []wait // waits after the last
}

// wait is a step without a request.
type wait struct {
	step  int // of the journey
	think pace.Think
	guard *condition // nil: it is never left out
}

// turn is one request of a journey.
type turn struct {
	step     int // of the journey
	request  int
	waits    []wait // before it
	captures []capture
	// guard is the condition of the step, whose first turn this is, of so many times; nil: it has none.
	guard *condition
	times int
	// until is the condition until which the request is sent; nil: it is sent once.
	until  *condition
	atMost int
	every  time.Duration
	// needs are the values of the request that may not be there, since their step was left out.
	needs []capturedUse
	// readsBody says that one of them is in the body; fields are the header fields that they need.
	readsBody bool
	fields    []string
}

// captured returns the names of the values that any journey captures. Their places among
// the values of a user are those in the list. It adds them to the columns that templates
// may name; none of a table may have the same name.
func (c Config) captured(columns columns) (names []string, err error) {
	for _, j := range c.Journeys {
		for _, step := range j.Steps {
			for _, name := range step.capturedNames() {
				if err := checkCaptured(name, columns); err != nil {
					return nil, fmt.Errorf("journey %q: capture %q: %w", j.Name, text.Truncate(name, 63), err)
				}
				if _, ok := columns[name]; !ok {
					columns[name] = column{slot: len(names)}
					names = append(names, name)
				}
			}
		}
	}
	return names, nil
}

func checkCaptured(name string, columns columns) error {
	column := columns[name]
	switch {
	case !columnName.MatchString(name):
		return errors.New("is not a name: use letters, digits and _")
	case reserved(name):
		return errors.New("has the name of a variable")
	case column.table != nil:
		return fmt.Errorf("is a column of %s too", column.table.name)
	}
	return nil
}

// compileJourney compiles a journey of the requests that are compiled already.
func (s *Source) compileJourney(index int, j Journey, names []string) (journey, error) {
	out := journey{index: index, limit: j.TimeLimit, keeps: j.KeepValues}
	if j.Weight < 1 {
		return out, fmt.Errorf("weight: must be at least 1, is %d", j.Weight)
	}
	if j.User != nil {
		out.user = 1 + slices.Index(s.tables, j.User)
	}
	c := journeyCompiler{source: s, journey: &out, names: names, known: map[int]bool{}, steps: j.Steps, conditions: newConditions(s, &j, names)}
	for i := range j.Steps {
		if err := c.add(i, &j.Steps[i]); err != nil {
			return out, fmt.Errorf("steps[%d]: %w", i, err)
		}
	}
	switch {
	case len(out.turns) == 0:
		return out, errors.New("steps: there must be at least one with a request")
	case out.lead == len(out.turns):
		return out, errors.New("steps: with keepValues, at least one request must have no if")
	}
	return out, nil
}

// journeyCompiler compiles the steps of a journey, in their order.
type journeyCompiler struct {
	source  *Source
	journey *journey
	names   []string
	// known has the places of the values that a step so far captures; true: one without a condition does.
	known      map[int]bool
	steps      []JourneyStep
	conditions *conditions
}

// add adds the step of an index.
func (c *journeyCompiler) add(index int, step *JourneyStep) error {
	var guard *condition // nil: the step has none
	if step.If != "" {
		var err error
		if guard, err = c.conditions.guard(step, c.isBeforeFirst(), c.journey.keeps); err != nil {
			return err
		}
	}
	if step.Times == 0 {
		c.journey.after = append(c.journey.after, wait{step: index, think: step.Think, guard: guard})
		return nil
	}
	return c.addTurns(index, step, guard)
}

// isBeforeFirst says whether each request so far may be left out: the next one may be the first.
func (c *journeyCompiler) isBeforeFirst() bool { return c.journey.lead == len(c.journey.turns) }

// addTurns adds the requests of a step.
func (c *journeyCompiler) addTurns(index int, step *JourneyStep, guard *condition) error {
	j := c.journey
	if step.Request < 0 || step.Request >= len(c.source.requests) {
		return fmt.Errorf("there is no request %d", step.Request)
	}
	if step.Times < 0 || step.Times+len(j.turns) > maxTurns {
		return fmt.Errorf("more than %d requests", maxTurns)
	}
	r := &c.source.requests[step.Request]
	t := turn{step: index, request: step.Request, fields: slices.Clone(r.fields), guard: guard, times: step.Times}
	var err error
	if t.needs, err = c.needs(r, step); err != nil {
		return err
	}
	if c.isBeforeFirst() {
		if err := c.checkFirst(r, &t); err != nil {
			return err
		}
	}
	if err := c.setCaptures(&t, r, step); err != nil {
		return err
	}
	if err := c.setRepeat(&t, step); err != nil {
		return err
	}
	if guard != nil && c.isBeforeFirst() {
		j.lead += step.Times
	}
	for range step.Times {
		t.waits, j.after = j.after, nil
		j.turns = append(j.turns, t)
		t.guard = nil // it is asked once for all of them
	}
	return nil
}

// setCaptures sets what is captured of the responses to a request. Later steps know it.
func (c *journeyCompiler) setCaptures(t *turn, r *request, step *JourneyStep) (err error) {
	if t.captures, err = step.compileCaptures(); err != nil {
		return err
	}
	for i := range t.captures {
		v := &t.captures[i]
		v.slot = slices.Index(c.names, v.name)
		c.known[v.slot] = c.known[v.slot] || step.If == ""
		t.readsBody = t.readsBody || v.readsBody()
		if v.header != "" && !slices.Contains(t.fields, v.header) {
			t.fields = append(t.fields, v.header)
		}
		if r.call != nil && !v.isJSON() {
			return fmt.Errorf("captureFrom.%s: request %q is a call of gRPC, whose replies are JSON; use capture", v.name, r.name)
		}
	}
	c.conditions.captured(step)
	return nil
}

// setRepeat sets until when the request of a step is sent.
func (c *journeyCompiler) setRepeat(t *turn, step *JourneyStep) (err error) {
	if step.Until == "" {
		return nil
	}
	switch {
	case step.AtMost < 1 || step.Times != 1:
		return fmt.Errorf("repeat: atMost must be at least 1, is %d", step.AtMost)
	case step.Every < 0:
		return fmt.Errorf("repeat: every must be at least 0s, is %v", step.Every)
	}
	t.atMost, t.every = step.AtMost, step.Every
	if t.until, err = c.conditions.compile(step.Until); err != nil {
		return fmt.Errorf("repeat.until: %w", err)
	}
	return nil
}

// needs are the values of a request that only steps with a condition capture.
func (c *journeyCompiler) needs(r *request, step *JourneyStep) (needs []capturedUse, err error) {
	for _, u := range r.captured {
		switch always, ok := c.known[u.slot]; {
		case c.journey.keeps && !always && (ok || c.captures(u.name)):
			needs = append(needs, u)
		case !ok:
			return nil, fmt.Errorf("request %q has ${%s}, which no request before it captures", r.name, u.name)
		case !always && step.If == "":
			return nil, fmt.Errorf("request %q has ${%s}, which only a step with if captures: give this step an if too, such as %s != null", r.name, u.name, u.name)
		case !always:
			needs = append(needs, u)
		}
	}
	return needs, nil
}

// captures says whether any step of the journey captures a value, which the user then has of the journey before.
func (c *journeyCompiler) captures(name string) bool {
	return slices.ContainsFunc(c.steps, func(s JourneyStep) bool { return slices.Contains(s.capturedNames(), name) })
}

// checkFirst refuses a request that may be the first of a journey, and whose values may not be there then: a
// journey could not even begin. They are there if its own condition asks for them, or if a step before it
// captures them whenever they are not.
func (c *journeyCompiler) checkFirst(r *request, t *turn) error {
	for _, u := range t.needs {
		asked := t.guard != nil && t.guard.Needs(u.name)
		if !asked && !slices.ContainsFunc(c.journey.turns, func(before turn) bool { return before.gives(u) }) {
			return fmt.Errorf("request %q has ${%s}, and may be the first of a journey, when the user has none: give a step before it that captures %s the condition %s == null, or this step %s != null", r.name, u.name, u.name, u.name, u.name)
		}
	}
	return nil
}

// gives says whether the user has a value after the turn, whether or not it was left out.
func (t *turn) gives(u capturedUse) bool {
	captures := slices.ContainsFunc(t.captures, func(c capture) bool { return c.slot == u.slot })
	return captures && t.guard != nil && t.guard.HoldsWithout(u.name)
}

// addJourneys compiles the journeys. The mix has a journey as the index that follows
// those of the requests and of the journeys before it.
func (s *Source) addJourneys(journeys []Journey, names []string) error {
	var errs []error
	for i, j := range journeys {
		compiled, err := s.compileJourney(i, j, names)
		if err != nil {
			errs = append(errs, fmt.Errorf("journey %q: %w", j.Name, err))
		}
		if i > 0 && j.KeepValues != s.keepsValues {
			errs = append(errs, fmt.Errorf("journey %q: keepValues: must be the same of all journeys, which the same users carry out", j.Name))
		}
		s.keepsValues = j.KeepValues
		s.journeys = append(s.journeys, compiled)
	}
	s.strictest = make([]position, len(names))
	for i := range s.requests {
		for _, use := range s.requests[i].captured {
			s.strictest[use.slot] = max(s.strictest[use.slot], use.at)
		}
	}
	return errors.Join(errs...)
}

// CheckAlone refuses a request of the mix, or of the setup, that takes a value which only a journey has.
func (s *Source) CheckAlone(request int) error { return s.requests[request].checkAlone() }

func (r *request) checkAlone() error {
	if len(r.captured) == 0 {
		return nil
	}
	return fmt.Errorf("${%s} is captured by a journey, which alone may send the request", r.captured[0].name)
}

// KeepsValues says whether users keep what responses gave them from one journey to the next.
func (s *Source) KeepsValues() bool { return s.keepsValues }

// Journeys returns the number of journeys.
func (s *Source) Journeys() int { return len(s.journeys) }

// UserMemory is what a user of journeys that capture so many values, and send to so many targets,
// takes besides its connections, at most. fields says that header fields of responses are kept.
func UserMemory(captured, targets int, fields bool) int64 {
	place := 512 // the place in the mix, and the path of a request
	if fields {
		place += transport.MaxFields
	}
	const header = 25 // of a slice, and the kind
	return int64(place + targets*cookie.MaxBytes + transport.MaxCookies + captured*(maxCaptured+header))
}

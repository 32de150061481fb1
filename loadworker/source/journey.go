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
	Steps     []JourneyStep
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
}

// maxTurns bounds the requests of a journey.
const maxTurns = 3200

// journey is a compiled Journey.
type journey struct {
	index int
	limit time.Duration
	user  int // the slot of the users' table, plus one; 0: none
	turns []turn
	after []pace.Think // waits after the last
}

// turn is one request of a journey.
type turn struct {
	step     int // of the journey
	request  int
	waits    []pace.Think // before it
	captures []capture
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
	out := journey{index: index, limit: j.TimeLimit}
	if j.Weight < 1 {
		return out, fmt.Errorf("weight: must be at least 1, is %d", j.Weight)
	}
	if j.User != nil {
		out.user = 1 + slices.Index(s.tables, j.User)
	}
	known := map[int]bool{}
	for i, step := range j.Steps {
		if step.Times == 0 {
			out.after = append(out.after, step.Think)
			continue
		}
		if err := s.addTurns(&out, i, step, names, known); err != nil {
			return out, fmt.Errorf("steps[%d]: %w", i, err)
		}
	}
	if len(out.turns) == 0 {
		return out, errors.New("steps: there must be at least one with a request")
	}
	return out, nil
}

// addTurns adds the requests of the step of an index. known are the places of the values that were
// captured before it.
func (s *Source) addTurns(j *journey, index int, step JourneyStep, names []string, known map[int]bool) error {
	if step.Request < 0 || step.Request >= len(s.requests) {
		return fmt.Errorf("there is no request %d", step.Request)
	}
	if step.Times < 0 || step.Times+len(j.turns) > maxTurns {
		return fmt.Errorf("more than %d requests", maxTurns)
	}
	r := &s.requests[step.Request]
	for _, use := range r.captured {
		if !known[use.slot] {
			return fmt.Errorf("request %q has ${%s}, which no request before it captures", r.name, use.name)
		}
	}
	t := turn{step: index, request: step.Request, fields: slices.Clone(r.fields)}
	var err error
	if t.captures, err = step.compileCaptures(); err != nil {
		return err
	}
	for i := range t.captures {
		c := &t.captures[i]
		c.slot = slices.Index(names, c.name)
		known[c.slot] = true
		t.readsBody = t.readsBody || c.readsBody()
		if c.header != "" && !slices.Contains(t.fields, c.header) {
			t.fields = append(t.fields, c.header)
		}
		if r.call != nil && !c.isJSON() {
			return fmt.Errorf("captureFrom.%s: request %q is a call of gRPC, whose replies are JSON; use capture", c.name, r.name)
		}
	}
	for range step.Times {
		t.waits, j.after = j.after, nil
		j.turns = append(j.turns, t)
	}
	return nil
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

// Journeys returns the number of journeys.
func (s *Source) Journeys() int { return len(s.journeys) }

// UserMemory is what a user of journeys that capture so many values, and send to so many targets,
// takes besides its connections, at most. fields says that header fields of responses are kept.
func UserMemory(captured, targets int, fields bool) int64 {
	place := 512 // the place in the mix, and the path of a request
	if fields {
		place += transport.MaxFields
	}
	return int64(place + targets*cookie.MaxBytes + transport.MaxCookies + captured*(maxCaptured+24))
}

package source

import (
	"cmp"
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Config configures a Source.
type Config struct {
	Requests []Request
	// Journeys take part in the mix, beside the requests. Requests of users alone are in a
	// mix that has any, see Walk.
	Journeys []Journey
	// Secure says that the first target is reached over TLS.
	Secure bool
	// Origins are the targets, by number, to which redirects may lead; none: to the target of the
	// request, by a path.
	Origins []Origin
	// Tables are the data whose columns templates name.
	Tables []*Table
	// ClientHeader names the header whose value is the client of the audit.
	ClientHeader string
	// Traced says that the requests have a trace header beside their own.
	Traced bool
	// Seed of all that is random.
	Seed int64
	// Workers is the number of workers of the run.
	Workers int32
}

// Source renders the requests of a run. It is safe for concurrent use.
type Source struct {
	requests []request
	cycle    []int
	// block is after how many arrivals of all workers the cycle goes on one position later; 0: it does not.
	block    int64
	workers  int64
	seed     int64
	tables   []*Table
	counters []cycleCounters // by table

	journeys []journey
	// keepsValues says that users keep what they have of responses from one journey to the next.
	keepsValues bool

	strictest []position // in which requests have a captured value, by its slot
	targets   int        // how many there are
	origins   []origin   // by target
}

// New compiles the requests. The error lists every mistake with its request and field.
func New(c Config) (*Source, error) {
	if len(c.Requests) == 0 {
		return nil, errors.New("requests: there must be at least one")
	}
	columns, err := c.columns()
	if err != nil {
		return nil, err
	}
	names, err := c.captured(columns)
	if err != nil {
		return nil, err
	}
	s := &Source{seed: c.Seed, tables: c.Tables, targets: max(1, len(c.Origins))}
	if s.origins, err = newOrigins(c.Origins); err != nil {
		return nil, err
	}
	var errs []error
	weights := make([]int32, len(c.Requests), len(c.Requests)+len(c.Journeys))
	compiler := compiler{columns: columns, captured: names, client: textproto.CanonicalMIMEHeaderKey(c.ClientHeader), traced: c.Traced, seed: c.Seed}
	for i, r := range c.Requests {
		compiled, err := compiler.compile(r)
		if r.Target == 0 {
			compiled.secure = c.Secure
		}
		s.targets = max(s.targets, r.Target+1)
		if err != nil {
			errs = append(errs, fmt.Errorf("request %q: %w", r.Name, err))
		}
		if weights[i] = r.Weight; r.Weight < 0 {
			errs = append(errs, fmt.Errorf("request %q: weight: must be at least 0, is %d", r.Name, r.Weight))
		}
		if err := compiled.checkAlone(); err != nil && r.Weight > 0 {
			errs = append(errs, fmt.Errorf("request %q: weight: must be 0: %w", r.Name, err))
		}
		s.requests = append(s.requests, compiled)
	}
	if len(errs) == 0 {
		errs = append(errs, s.addJourneys(c.Journeys, names))
	}
	weights = append(weights, c.journeyWeights()...)
	if !slices.ContainsFunc(weights, func(w int32) bool { return w > 0 }) {
		errs = append(errs, errors.New("weight: at least one request must have one above 0"))
	}
	for _, t := range c.Tables {
		errs = append(errs, t.checkAll())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.cycle, s.workers = cycle(weights), int64(max(c.Workers, 1))
	s.block = blockOf(int64(len(s.cycle)), s.workers)
	s.counters = s.newCycleCounters()
	s.countTurns()
	return s, s.checkMessages()
}

func (c Config) journeyWeights() (weights []int32) {
	for _, j := range c.Journeys {
		weights = append(weights, j.Weight)
	}
	return weights
}

// columns returns the columns of all tables.
func (c Config) columns() (columns, error) {
	all := columns{}
	for slot, t := range c.Tables {
		for index, name := range t.columns {
			if other, ok := all[name]; ok {
				return nil, fmt.Errorf("%s: %s has the same name as a column of %s", t.name, t.describe(index), other.table.name)
			}
			all[name] = column{table: t, index: index, slot: slot}
		}
	}
	return all, nil
}

// Len returns the number of requests in the mix.
func (s *Source) Len() int { return len(s.requests) }

// Name returns the name of a request.
func (s *Source) Name(request int) string { return s.requests[request].name }

// Problem says why a request may be refused that the target would take otherwise; "": nothing
// is known of any.
func (s *Source) Problem(request int) string {
	if l := s.requests[request].login; l != nil {
		return l.Problem()
	}
	return ""
}

// Timeout returns the timeout of a request whose target has another.
func (s *Source) Timeout(request int, target time.Duration) time.Duration {
	return cmp.Or(s.requests[request].timeout, target)
}

// Stream is how the response to a request is read if it comes in parts; nil: it does not.
func (s *Source) Stream(request int) *transport.Stream { return s.requests[request].stream }

// Takes reports whether a request takes rows of a table.
func (s *Source) Takes(request int, t *Table) bool {
	for _, slot := range s.requests[request].slots {
		if s.tables[slot] == t {
			return true
		}
	}
	return false
}

// takesRow reports whether an item of the mix takes a row of the table of a slot in turn, for a request or for its user.
func (s *Source) takesRow(item, slot int) bool {
	inTurn := s.tables[slot].choice == Sequential
	if item < len(s.requests) {
		return inTurn && slices.Contains(s.requests[item].slots, slot)
	}
	j := &s.journeys[item-len(s.requests)]
	return j.user == slot+1 || inTurn && slices.ContainsFunc(j.turns, func(t turn) bool { return s.takesRow(t.request, slot) })
}

// FirstOf returns the first request of an item of the mix: of the journey, if it is beyond the requests.
func (s *Source) FirstOf(item int) int {
	if n := item - len(s.requests); n >= 0 {
		return s.journeys[n].turns[0].request
	}
	return item
}

// Position is where in the mix, as RequestOf counts it, the n-th of all arrivals or sessions is.
func (s *Source) Position(n int64) int64 {
	if s.block > 0 {
		n += n / s.block
	}
	return n
}

// RequestOf returns the request of the mix that is the k-th of a user, or, beyond the
// requests, the journey. Users begin
// at different positions of the cycle, so that the mix is exact over time and also
// at each instant.
func (s *Source) RequestOf(user, k int64) int {
	return s.cycle[(user+k)%int64(len(s.cycle))]
}

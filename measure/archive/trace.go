package archive

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Trace is a request, and the id of its trace.
type Trace struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
	// Status is that of the response; 0: none came.
	Status         int   `json:"status,omitempty"`
	ResponseMicros int64 `json:"responseMicros"`
	ServiceMicros  int64 `json:"serviceMicros"`
}

// NewTraces are those that were kept of a request, the slowest first.
func NewTraces(kept measure.Traces) []Trace {
	var list []Trace
	for _, t := range kept {
		list = append(list, Trace{
			ID: hex.EncodeToString(t.ID[:]), Outcome: t.Outcome.String(), Status: t.Status,
			ResponseMicros: t.Response.Microseconds(), ServiceMicros: t.Service.Microseconds(),
		})
	}
	slices.SortStableFunc(list, func(a, b Trace) int { return cmp.Compare(b.ResponseMicros, a.ResponseMicros) })
	return list
}

var traceID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// checkTraces validates what was read.
func (r *Request) checkTraces() error {
	for i, t := range r.Traces {
		switch {
		case !traceID.MatchString(t.ID):
			return fmt.Errorf("traces[%d].id: %d bytes, want 32 hexadecimal digits", i, len(t.ID))
		case t.ServiceMicros < 0 || t.ResponseMicros < t.ServiceMicros:
			return fmt.Errorf("traces[%d]: it does not add up", i)
		}
	}
	return nil
}

package attack

import (
	"slices"
	"sync"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/trace"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// keptTraces are the traces of a request of the mix. Most of those that end are not kept:
// one lock is enough for all shards.
type keptTraces struct {
	mu     sync.Mutex
	traces measure.Traces
}

// trace adds the header of a trace to a request that was rendered, and notes the id if it
// is sampled.
func (h *hit) trace(s *trace.Sampler, b *source.Buffer) {
	h.context = s.Draw()
	b.Append(trace.Header, h.context.Append)
	if h.sampled = h.context.Sampled; h.sampled {
		h.traceID = h.context.ID
	}
}

// keepTrace keeps the trace of a request, the outcome of which was counted, if it is to be
// kept.
func (r *recorder) keepTrace(h *hit, res result) {
	if !h.sampled {
		return
	}
	k := &r.traces[h.request]
	k.mu.Lock()
	defer k.mu.Unlock()
	k.traces.Add(measure.Trace{
		ID: h.traceID, Outcome: res.outcome, Expected: res.expected, Status: res.status,
		Response: res.received - h.due, Service: res.received - h.sent,
	})
}

// collectTraces adds those that are kept. They come before the counts, so that each of
// them is counted.
func (r *recorder) collectTraces(to *measure.Measurement) {
	for i := range r.traces {
		k := &r.traces[i]
		k.mu.Lock()
		to.Requests[i].Traces = slices.Clone(k.traces)
		k.mu.Unlock()
	}
}

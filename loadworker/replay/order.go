package replay

import (
	"container/heap"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

const (
	// orderRequests is how many requests are kept to be sorted: a proxy writes a line when the
	// request has ended, with the time at which it began. At 1,000 requests a second, it may have
	// taken half a minute.
	orderRequests = 1 << 15
	// orderBytes bounds what they take.
	orderBytes = 8 << 20
)

// order sorts requests that are nearly in order.
type order struct {
	kept  byDue
	bytes int64
	last  time.Duration // that was emitted
}

// put keeps a request, and emits the earliest ones beyond the bounds. One that is earlier than what
// was emitted is counted, and not sent: its instant has passed.
func (o *order) put(r *Request, lines *measure.Replay, emit func(*Request) error) error {
	if r.Due < o.last {
		lines.OutOfOrder++
		return nil
	}
	heap.Push(&o.kept, r)
	o.bytes += r.size()
	for len(o.kept) > orderRequests || o.bytes > orderBytes {
		if err := o.next(emit); err != nil {
			return err
		}
	}
	return nil
}

func (o *order) next(emit func(*Request) error) error {
	r := heap.Pop(&o.kept).(*Request)
	o.bytes -= r.size()
	o.last = r.Due
	return emit(r)
}

// drain emits all that is kept.
func (o *order) drain(emit func(*Request) error) error {
	for len(o.kept) > 0 {
		if err := o.next(emit); err != nil {
			return err
		}
	}
	return nil
}

// byDue is a heap of requests. Those that are due at the same instant are in the order of the log.
type byDue []*Request

var _ heap.Interface = (*byDue)(nil)

// Len is how many there are.
func (h byDue) Len() int { return len(h) }

// Less says whether one comes before another.
func (h byDue) Less(i, j int) bool {
	if h[i].Due != h[j].Due {
		return h[i].Due < h[j].Due
	}
	return h[i].Line < h[j].Line
}

// Swap swaps two.
func (h byDue) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push adds one at the end.
func (h *byDue) Push(x any) { *h = append(*h, x.(*Request)) }

// Pop takes the last one away.
func (h *byDue) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return r
}

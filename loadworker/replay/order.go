package replay

import (
	"container/heap"
	"sort"
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
	most     int                  // requests that are kept
	emit     func(*Request) error // is given each, which is valid until it returns
	straight ring                 // those that came in order, of most logs all
	others   byDue                // that came behind one of straight that is due later
	paths    paths                // of those that were put
	bytes    int64
	last     time.Duration // that was emitted
	// behind is at least the most that were kept, and due later, when a request came that was kept. With no more than
	// so many kept, the same requests are emitted: the earliest of them goes later than such a request comes.
	behind int
}

// put keeps a request, with a copy of its path, and emits the earliest ones beyond the bounds. One that is earlier than what
// was emitted is counted, and not sent: its instant has passed.
func (o *order) put(r *Request, lines *measure.Replay) error {
	if r.Due < o.last {
		lines.OutOfOrder++
		return nil
	}
	r.Path = o.paths.keep(r.Path)
	if o.straight.n == 0 || r.Due >= o.straight.at(o.straight.n-1).Due {
		o.straight.push(r)
	} else {
		o.behind = max(o.behind, o.straight.later(r)+len(o.others))
		other := *r
		heap.Push(&o.others, &other)
	}
	o.bytes += r.size()
	for o.kept() > o.most || o.bytes > orderBytes {
		if err := o.next(); err != nil {
			return err
		}
	}
	return nil
}

func (o *order) kept() int { return o.straight.n + len(o.others) }

// next emits the earliest request.
func (o *order) next() error {
	var r *Request
	if len(o.others) > 0 && (o.straight.n == 0 || o.others[0].before(o.straight.at(0))) {
		r = heap.Pop(&o.others).(*Request)
	} else {
		r = o.straight.pop()
	}
	o.bytes -= r.size()
	o.last = r.Due
	return o.emit(r)
}

// drain emits all that is kept.
func (o *order) drain() error {
	for o.kept() > 0 {
		if err := o.next(); err != nil {
			return err
		}
	}
	return nil
}

// before says whether a request comes before another. Those that are due at the same instant are in the
// order of the log.
func (r *Request) before(o *Request) bool {
	if r.Due != o.Due {
		return r.Due < o.Due
	}
	return r.Line < o.Line
}

// ring is a queue.
type ring struct {
	list     []Request // as many as a power of two
	first, n int
	out      Request // was popped last
}

// at is the one behind i others, of which there are more.
func (q *ring) at(i int) *Request { return &q.list[(q.first+i)&(len(q.list)-1)] }

// later is how many are due later than a request. Those of the ring ascend.
func (q *ring) later(r *Request) int {
	return q.n - sort.Search(q.n, func(i int) bool { return q.at(i).Due > r.Due })
}

func (q *ring) push(r *Request) {
	const least = 64
	if q.n == len(q.list) {
		list := make([]Request, max(least, 2*q.n))
		for i := range q.n {
			list[i] = *q.at(i)
		}
		q.list, q.first = list, 0
	}
	q.n++
	*q.at(q.n - 1) = *r
}

// pop takes the first one away. What it returns is valid until the next call.
func (q *ring) pop() *Request {
	first := q.at(0)
	q.out, *first = *first, Request{} // so that nothing holds its path in memory
	q.first, q.n = q.first+1, q.n-1
	return &q.out
}

// byDue is a heap of requests.
type byDue []*Request

var _ heap.Interface = (*byDue)(nil)

// Len is how many there are.
func (h byDue) Len() int { return len(h) }

// Less says whether one comes before another.
func (h byDue) Less(i, j int) bool { return h[i].before(h[j]) }

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

package attack

import "time"

// queue is a binary heap of users, of which the first is due first.
type queue []entry

// entry is a user and when its next request is due.
type entry struct {
	due  time.Duration
	user int
}

// push adds a user. One that is due last, as most are, stays where it is put.
func (q *queue) push(e entry) {
	h := append(*q, e)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].due <= e.due {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
	*q = h
}

// pop takes the first of a queue that is not empty.
func (q *queue) pop() entry {
	h := *q
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	i := 0
	for child := 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child+1].due < h[child].due {
			child++
		}
		if last.due <= h[child].due {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = last
	}
	return first
}

package transport

// deadlines are the wires that wait for a response, nearest deadline first. All
// requests of a step have the same timeout, so that the next one nearly always
// belongs at the end.
type deadlines struct{ first, last *Wire }

func (q *deadlines) add(w *Wire) {
	after := q.last
	for after != nil && after.deadline > w.deadline {
		after = after.prev
	}
	w.prev = after
	if after == nil {
		w.next, q.first = q.first, w
	} else {
		w.next, after.next = after.next, w
	}
	if w.next == nil {
		q.last = w
	} else {
		w.next.prev = w
	}
}

// remove removes a wire, if it is there.
func (q *deadlines) remove(w *Wire) {
	switch {
	case w.prev != nil:
		w.prev.next = w.next
	case q.first == w:
		q.first = w.next
	default:
		return // it was only dialled
	}
	if w.next == nil {
		q.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.next, w.prev = nil, nil
}

package groundtruth

// timer is an action of a loop at an instant.
type timer struct {
	at   int64
	conn *conn // nil: look at the script
}

// timers is a heap: the earliest is the first.
type timers []timer

func (h *timers) push(t timer) {
	*h = append(*h, t)
	a := *h
	for i := len(a) - 1; i > 0; {
		parent := (i - 1) / 2
		if a[parent].at <= a[i].at {
			break
		}
		a[parent], a[i] = a[i], a[parent]
		i = parent
	}
}

func (h *timers) pop() timer {
	a := *h
	first, last := a[0], len(a)-1
	a[0], a[last] = a[last], timer{}
	*h = a[:last]
	(*h).down()
	return first
}

func (h timers) down() {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].at < h[least].at {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

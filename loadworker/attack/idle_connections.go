package attack

// idlePool holds the connections that carry no request.
type idlePool struct {
	open   []*connSlot // the last used is used first, so that few are used
	closed []*connSlot
}

func (p *idlePool) put(c *connSlot) {
	if c.socket.IsOpen() {
		p.open = append(p.open, c)
	} else {
		p.closed = append(p.closed, c)
	}
}

// hasOpen reports whether there is an open connection, which take then takes. It
// moves those that were closed meanwhile.
func (p *idlePool) hasOpen() bool {
	for n := len(p.open) - 1; n >= 0; n-- {
		if p.open[n].socket.IsOpen() {
			return true
		}
		p.closed = append(p.closed, pop(&p.open))
	}
	return false
}

// take takes an open connection if there is one, else one that is closed; ok is
// false if there is neither.
func (p *idlePool) take() (c *connSlot, ok bool) {
	switch {
	case p.hasOpen():
		return pop(&p.open), true
	case len(p.closed) > 0:
		return pop(&p.closed), true
	default:
		return nil, false
	}
}

func pop[T any](list *[]T) T {
	last := len(*list) - 1
	v := (*list)[last]
	*list = (*list)[:last]
	return v
}

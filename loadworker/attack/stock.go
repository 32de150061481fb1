package attack

// stock is what requests are sent over, of which none is anybody's own.
type stock[T interface{ isOpen() bool }] struct {
	idle []T // open; the last used is used first, so that few are used
	cold []T // not open
}

func (s *stock[T]) put(v T) {
	if v.isOpen() {
		s.idle = append(s.idle, v)
	} else {
		s.cold = append(s.cold, v)
	}
}

// warm says whether there is an open one, which take then takes. What was closed
// meanwhile is cold.
func (s *stock[T]) warm() bool {
	for n := len(s.idle) - 1; n >= 0; n-- {
		if s.idle[n].isOpen() {
			return true
		}
		s.cold = append(s.cold, pop(&s.idle))
	}
	return false
}

// take takes an open one if there is, else one that is not open; ok is false if
// there is neither.
func (s *stock[T]) take() (v T, ok bool) {
	switch {
	case s.warm():
		return pop(&s.idle), true
	case len(s.cold) > 0:
		return pop(&s.cold), true
	default:
		return v, false
	}
}

func pop[T any](list *[]T) T {
	last := len(*list) - 1
	v := (*list)[last]
	*list = (*list)[:last]
	return v
}

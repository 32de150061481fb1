package attack

import "testing"

// line is what a stock may hold.
type line struct{ open bool }

func (l *line) isOpen() bool { return l.open }

func TestStockTakesTheLastUsedFirst(t *testing.T) {
	a, b, c, cold := &line{true}, &line{true}, &line{true}, &line{}
	var s stock[*line]
	for _, l := range []*line{cold, a, b, c} {
		s.put(l)
	}
	c.open = false // meanwhile
	want := []struct {
		line *line
		warm bool
	}{{b, true}, {a, true}, {c, false}, {cold, false}}
	for i, w := range want {
		warm := s.warm()
		if got, ok := s.take(); got != w.line || !ok || warm != w.warm {
			t.Errorf("%d. taken: warm %v, %v, want %v and the right one", i+1, warm, ok, w.warm)
		}
	}
	if got, ok := s.take(); ok || s.warm() {
		t.Errorf("%v is taken of an empty stock", got)
	}
}

package measure

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What was offered is counted in sessions only where a larger part of these was not started.
func TestWhatWasOffered(t *testing.T) {
	m := Measurement{Due: 1000, Unsent: 20, UnsentWithoutRoom: 5, UnsentByGenerator: 15}
	requests := Offered{Due: 1000, Unsent: 20, WithoutRoom: 5, ByGenerator: 15}
	for name, tc := range map[string]struct {
		sessions Sessions
		want     Offered
	}{
		"no sessions":     {Sessions{}, requests},
		"all started":     {Sessions{100, 100}, requests},
		"the same share":  {Sessions{100, 98}, requests},
		"a larger share":  {Sessions{100, 90}, Offered{Due: 100, Unsent: 10, WithoutRoom: 5, ByGenerator: 10, OfSessions: true}},
		"none of them":    {Sessions{20, 0}, Offered{Due: 20, Unsent: 20, WithoutRoom: 5, ByGenerator: 15, OfSessions: true}},
		"a smaller share": {Sessions{1000, 995}, requests},
	} {
		m.Sessions = tc.sessions
		same.As(t, name, tc.want, m.Offered())
	}
	one, other := NewMeasurement(0), NewMeasurement(0)
	one.Sessions, other.Sessions = Sessions{3, 2}, Sessions{5, 4}
	if err := one.Merge(other); err != nil || one.Sessions != (Sessions{8, 6}) {
		t.Errorf("merged sessions are %+v, %v; want 8 and 6", one.Sessions, err)
	}
}

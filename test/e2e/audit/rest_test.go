package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRest(t *testing.T) {
	tests := map[string]struct {
		read []int64
		same []int
	}{
		"a number that rests":      {read: []int64{7, 7, 7}, same: []int{1, 2, 3}},
		"stable at zero":           {read: []int64{0, 0, 0}, same: []int{1, 2, 3}},
		"a late value":             {read: []int64{7, 7, 8, 8, 8}, same: []int{1, 2, 1, 2, 3}},
		"never stable":             {read: []int64{1, 2, 3, 4}, same: []int{1, 1, 1, 1}},
		"back at an earlier value": {read: []int64{7, 8, 7, 7}, same: []int{1, 1, 1, 2}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var rest Rest
			var same []int
			for _, n := range tc.read {
				same = append(same, rest.Read(n))
			}
			if diff := cmp.Diff(tc.same, same); diff != "" {
				t.Errorf("readings in a row (-want +got):\n%s", diff)
			}
		})
	}
}

// While the links of the fill are watched, whatever the client gave up is stored or
// given up by the service; and the pause is longer, for a machine on which it takes
// time to look.
func TestFillRestIsWithinPause(t *testing.T) {
	s := spec(t, Preset{Service: Shortener, Host: "x", Port: 1})
	watched := (FillRest - 1) * Every
	if late := servicesWait(t, "shortener/postgres/options.go", "queryTimeout") - s.Target.Timeout.Duration; watched < late {
		t.Errorf("the fill is watched for %s; a creation that was given up may be stored for %s", watched, late)
	}
	if pause := s.Steps[0].Pause; pause == nil || pause.Duration < 3*watched {
		t.Errorf("the pause is %v, want at least three times the %s for which the fill is watched", pause, watched)
	}
}

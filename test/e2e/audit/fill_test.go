package audit

import "testing"

func TestAgain(t *testing.T) {
	tests := map[string]struct {
		after, want int64
		err         string
	}{
		"each once":      {after: 5000 + Filled},
		"one sent again": {after: 5001 + Filled, want: 1},
		"a stall":        {after: 5032 + Filled, want: 32},
		"more than a stall": {
			after: 5033 + Filled, err: "filled 93: 33 more than 60, of which at most 32 are sent again in a stall",
		},
		"each twice":       {after: 5000 + 2*Filled, err: "filled 120: 60 more than 60, of which at most 32 are sent again in a stall"},
		"one lost":         {after: 4999 + Filled, err: "filled 59: 1 of 60 were lost"},
		"nothing was kept": {after: 5000, err: "filled 0: 60 of 60 were lost"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Again(5000, tc.after)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != tc.want || text != tc.err {
				t.Errorf("Again() = %d, %q; want %d, %q", got, text, tc.want, tc.err)
			}
		})
	}
}

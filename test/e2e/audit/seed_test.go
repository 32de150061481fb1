package audit

import "testing"

func TestAgain(t *testing.T) {
	tests := map[string]struct {
		after, want int64
		err         string
	}{
		"each once":        {after: 5000 + Seeded},
		"one sent again":   {after: 5001 + Seeded, want: 1},
		"one lost":         {after: 4999 + Seeded, err: "seeded 59: 1 of 60 were lost"},
		"nothing was kept": {after: 5000, err: "seeded 0: 60 of 60 were lost"},
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

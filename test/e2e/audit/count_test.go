package audit

import "testing"

func TestCount(t *testing.T) {
	tests := map[string]struct {
		got  int64
		want Tally
		says string
		bad  bool
	}{
		"exact": {got: 3000, want: Tally{Acknowledged: 3000}, says: "links 3000 = creates 3000"},
		"none of the ambiguous": {
			got: 3000, want: Tally{Acknowledged: 3000, Ambiguous: 4}, says: "links 3000 = creates 3000",
		},
		"some of the ambiguous": {
			got: 3003, want: Tally{Acknowledged: 3000, Ambiguous: 4}, says: "links 3003 = creates 3000 + 3 of 4 whose end is unknown",
		},
		"all of the ambiguous": {
			got: 3004, want: Tally{Acknowledged: 3000, Ambiguous: 4}, says: "links 3004 = creates 3000 + 4 of 4 whose end is unknown",
		},
		"one lost": {
			got: 2999, want: Tally{Acknowledged: 3000, Ambiguous: 4}, says: "links 2999: 1 of 3000 creates were lost", bad: true,
		},
		"one too many": {
			got: 3005, want: Tally{Acknowledged: 3000, Ambiguous: 4},
			says: "links 3005: 1 more than creates 3000 and 4 whose end is unknown", bad: true,
		},
		"nothing at all": {says: "links 0 = creates 0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := Count{Stored: "links", Acknowledged: "creates", Got: tc.got, Want: tc.want}
			if got := c.String(); got != tc.says {
				t.Errorf("count says %q, want %q", got, tc.says)
			}
			if err := c.Err(); (err != nil) != tc.bad {
				t.Errorf("error = %v, want one: %v", err, tc.bad)
			}
		})
	}
}

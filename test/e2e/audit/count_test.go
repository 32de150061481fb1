package audit

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// said is what an error says; "" is none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// full has one of everything that may end a request.
func full() Tally {
	return Tally{Sent: 3015, Acknowledged: 3000, TimedOut: 2, Unfinished: 1, Broken: 3, Unavailable: 5, ServerErrors: 4}
}

func TestCount(t *testing.T) {
	const quiet, disturbed = "3 unknown (2 timed out, 1 cut at the end of a step)",
		"10 unknown (2 timed out, 1 cut at the end of a step, 3 broken off, 4 answered 5xx)"
	tests := map[string]struct {
		got    int64
		want   Tally
		killed bool
		says   string
		bad    bool
	}{
		"exact":               {got: 3000, want: Tally{Acknowledged: 3000}, says: "links 3000 = creates 3000"},
		"none of the unknown": {got: 3000, want: full(), says: "links 3000 = creates 3000"},
		"some of the unknown": {got: 3002, want: full(), says: "links 3002 = creates 3000 + 2 of " + quiet},
		"all of the unknown":  {got: 3003, want: full(), says: "links 3003 = creates 3000 + 3 of " + quiet},
		"one more": {
			got: 3004, want: full(), bad: true,
			says: "links 3004: 1 more than creates 3000 and " + quiet + "; certainly not stored: 3 broken off, 4 answered 5xx, 5 answered 503",
		},
		"one lost": {got: 2999, want: full(), says: "links 2999: 1 of 3000 creates were lost", bad: true},
		"all of the unknown, with a pod killed": {
			got: 3010, want: full(), killed: true, says: "links 3010 = creates 3000 + 10 of " + disturbed,
		},
		"one more, with a pod killed": {
			got: 3011, want: full(), killed: true, bad: true,
			says: "links 3011: 1 more than creates 3000 and " + disturbed + "; certainly not stored: 5 answered 503",
		},
		"one lost, with a pod killed": {
			got: 2999, want: full(), killed: true, says: "links 2999: 1 of 3000 creates were lost", bad: true,
		},
		"more stored than sent": {
			got: 3001, want: Tally{Acknowledged: 3000}, says: "links 3001: 1 more than creates 3000 and 0 unknown", bad: true,
		},
		"nothing at all": {says: "links 0 = creates 0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := Count{Stored: "links", Acknowledged: "creates", Got: tc.got, Want: tc.want, Killed: tc.killed}
			same.As(t, "count", tc.says, c.String())
			if err := c.Err(); (err != nil) != tc.bad {
				t.Errorf("error = %v, want one: %v", err, tc.bad)
			}
		})
	}
}

// Each way in which a request may end widens the bound, or does not, by itself.
func TestTermsOfTheBound(t *testing.T) {
	tests := map[string]struct {
		want          Tally
		quiet, killed int64
	}{
		"timed out":    {Tally{Acknowledged: 5, TimedOut: 2}, 2, 2},
		"unfinished":   {Tally{Acknowledged: 5, Unfinished: 2}, 2, 2},
		"broken":       {Tally{Acknowledged: 5, Broken: 2}, 0, 2},
		"server error": {Tally{Acknowledged: 5, ServerErrors: 2}, 0, 2},
		"unavailable":  {Tally{Acknowledged: 5, Unavailable: 2}, 0, 0},
		"rejected":     {Tally{Sent: 7, Acknowledged: 5}, 0, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for killed, unknown := range map[bool]int64{false: tc.quiet, true: tc.killed} {
				for got, good := range map[int64]bool{4: false, 5: true, 5 + unknown: true, 6 + unknown: false} {
					c := Count{Stored: "stored", Acknowledged: "acknowledged", Got: got, Want: tc.want, Killed: killed}
					if err := c.Err(); (err == nil) != good {
						t.Errorf("%d stored, killed %v: error = %v, want none: %v", got, killed, err, good)
					}
				}
			}
		})
	}
}

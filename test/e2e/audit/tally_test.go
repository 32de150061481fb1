package audit

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// status is that of a run of two steps around a pause.
func status() v1beta1.LoadTestStatus {
	counts := func(sent, expected int64, o v1beta1.Outcomes) v1beta1.Counts {
		o.Success = expected
		return v1beta1.Counts{Sent: sent, Expected: expected, Failed: sent - expected, Outcomes: o}
	}
	create := counts(200, 168, v1beta1.Outcomes{
		Timeout: 1, Unfinished: 2, Reset: 3, BadResponse: 4, Other: 5, ServerError: 6, Refused: 11,
	})
	create.StatusCodes = []v1beta1.StatusCodeCount{{Code: 201, Count: 168}, {Code: 502, Count: 2}, {Code: 503, Count: 4}}
	follow := counts(300, 300, v1beta1.Outcomes{})
	later := counts(50, 37, v1beta1.Outcomes{ClientError: 2, RateLimited: 2, UnexpectedStatus: 2, DNS: 2, TLS: 2, Timeout: 3})
	return v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{
		{Name: "steady", Result: &v1beta1.StepResult{
			Counts: counts(500, 468, v1beta1.Outcomes{}),
			Types:  []v1beta1.TypeResult{{Name: Create, PartResult: v1beta1.PartResult{Counts: create}}, {Name: Follow, PartResult: v1beta1.PartResult{Counts: follow}}},
		}},
		{Name: "pause"},
		{Name: "burst", Result: &v1beta1.StepResult{
			Counts: later, Types: []v1beta1.TypeResult{{Name: Create, PartResult: v1beta1.PartResult{Counts: later}}},
		}},
	}}
}

func TestTypes(t *testing.T) {
	want := map[string]Tally{
		// Refused requests, and other statuses, are in no part.
		Create: {Sent: 250, Acknowledged: 205, TimedOut: 4, Unfinished: 2, Broken: 12, Unavailable: 4, ServerErrors: 2},
		Follow: {Sent: 300, Acknowledged: 300},
	}
	got := Types(status())
	same.As(t, "types", want, got)
	same.As(t, "failed", 45, got[Create].Failed())
}

// An error of unknown status does not count as a 503.
func TestUnavailable(t *testing.T) {
	codes := func(code int32, n int64) []v1beta1.StatusCodeCount {
		return []v1beta1.StatusCodeCount{{Code: 200, Count: 50}, {Code: code, Count: n}}
	}
	tests := map[string]struct {
		codes               []v1beta1.StatusCodeCount
		unavailable, others int64
	}{
		"all of them":                  {codes(503, 9), 9, 0},
		"some of them":                 {codes(503, 5), 5, 4},
		"another status":               {codes(504, 9), 0, 9},
		"no status is known":           {nil, 0, 9},
		"more than there were failing": {codes(503, 30), 9, 0}, // 503 was expected of the others
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tally(v1beta1.Counts{Sent: 59, Expected: 50, Outcomes: v1beta1.Outcomes{Success: 50, ServerError: 9}, StatusCodes: tc.codes})
			if got.Unavailable != tc.unavailable || got.ServerErrors != tc.others {
				t.Errorf("%d unavailable, %d other errors; want %d and %d", got.Unavailable, got.ServerErrors, tc.unavailable, tc.others)
			}
		})
	}
}

func TestSent(t *testing.T) {
	if sent, failed := Sent(status()); sent != 550 || failed != 45 {
		t.Errorf("sent %d, failed %d; want 550 and 45", sent, failed)
	}
}

func TestTallyArithmetic(t *testing.T) {
	got := Tally{Sent: 30, Acknowledged: 2, TimedOut: 3, Unfinished: 4, Broken: 5, Unavailable: 7, ServerErrors: 6}.Times(10).
		Plus(Tally{Sent: 9, Acknowledged: 1, TimedOut: 2, Unfinished: 3, Broken: 1, Unavailable: 3, ServerErrors: 2})
	want := Tally{Sent: 309, Acknowledged: 21, TimedOut: 32, Unfinished: 43, Broken: 51, Unavailable: 73, ServerErrors: 62}
	same.As(t, "tally", want, got)
}

func TestEnough(t *testing.T) {
	tests := map[string]struct {
		tally  Tally
		killed bool
		err    string
	}{
		"all":                   {tally: Tally{Sent: 100, Acknowledged: 100}},
		"few":                   {tally: Tally{Sent: 99, Acknowledged: 99}, err: "only 99 of 99 were acknowledged: the audit needs 100"},
		"few, with a pod gone":  {tally: Tally{Sent: 500, Acknowledged: 99}, killed: true, err: "only 99 of 500 were acknowledged: the audit needs 100"},
		"nothing was sent":      {err: "only 0 of 0 were acknowledged: the audit needs 100"},
		"nine of ten":           {tally: Tally{Sent: 1000, Acknowledged: 900, ServerErrors: 100}},
		"a slow machine":        {tally: Tally{Sent: 330, Acknowledged: 300, TimedOut: 20, Unfinished: 10}},
		"slow, and nine of ten": {tally: Tally{Sent: 1090, Acknowledged: 900, TimedOut: 50, Unfinished: 40, Broken: 100}},
		"slow, and errors": {
			tally: Tally{Sent: 1090, Acknowledged: 899, TimedOut: 50, Unfinished: 39, Broken: 102},
			err:   "only 899 of 1001 that did not time out were acknowledged: the audit needs nine of ten",
		},
		"too slow": {
			tally: Tally{Sent: 1000, Acknowledged: 100, TimedOut: 900},
			err:   "900 timed out beside 100 acknowledged: what may be stored is not bounded well; the audit allows one for ten",
		},
		"one too many timed out": {
			tally: Tally{Sent: 331, Acknowledged: 300, TimedOut: 20, Unfinished: 11},
			err:   "20 timed out, 11 cut at the end of a step beside 300 acknowledged: what may be stored is not bounded well; the audit allows one for ten",
		},
		"too slow, with a pod gone": {tally: Tally{Sent: 1000, Acknowledged: 100, TimedOut: 900}, killed: true},
		"a target that fails": {
			tally: Tally{Sent: 1000, Acknowledged: 899, ServerErrors: 101},
			err:   "only 899 of 1000 that did not time out were acknowledged: the audit needs nine of ten",
		},
		"a target that refuses": {
			tally: Tally{Sent: 1000, Acknowledged: 899},
			err:   "only 899 of 1000 that did not time out were acknowledged: the audit needs nine of ten",
		},
		"failures, with a pod gone": {tally: Tally{Sent: 1000, Acknowledged: 100, Broken: 900}, killed: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "error", tc.err, said(tc.tally.Enough(tc.killed)))
		})
	}
}

package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// status is that of a run of two steps around a pause.
func status() v1alpha1.LoadTestStatus {
	counts := func(sent, expected int64, o v1alpha1.Outcomes) v1alpha1.Counts {
		o.Success = expected
		return v1alpha1.Counts{Sent: sent, Expected: expected, Failed: sent - expected, Outcomes: o}
	}
	create := counts(100, 92, v1alpha1.Outcomes{Timeout: 1, Reset: 1, BadResponse: 1, Unfinished: 1, Other: 1, ServerError: 1, Refused: 2})
	follow := counts(300, 300, v1alpha1.Outcomes{})
	later := counts(50, 40, v1alpha1.Outcomes{ClientError: 2, RateLimited: 2, UnexpectedStatus: 2, DNS: 2, TLS: 2})
	return v1alpha1.LoadTestStatus{Steps: []v1alpha1.StepStatus{
		{Name: "steady", Result: &v1alpha1.StepResult{
			Counts: counts(400, 392, v1alpha1.Outcomes{}),
			Kinds:  []v1alpha1.KindResult{{Name: Create, Counts: create}, {Name: Follow, Counts: follow}},
		}},
		{Name: "pause"},
		{Name: "burst", Result: &v1alpha1.StepResult{
			Counts: later, Kinds: []v1alpha1.KindResult{{Name: Create, Counts: later}},
		}},
	}}
}

func TestKinds(t *testing.T) {
	want := map[string]Tally{
		// What was refused, or answered with any status but 5xx, was not carried out.
		Create: {Sent: 150, Acknowledged: 132, Ambiguous: 6},
		Follow: {Sent: 300, Acknowledged: 300},
	}
	got := Kinds(status())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if failed := got[Create].Failed(); failed != 18 {
		t.Errorf("failed = %d, want 18", failed)
	}
}

func TestSent(t *testing.T) {
	if sent, failed := Sent(status()); sent != 450 || failed != 18 {
		t.Errorf("sent %d, failed %d; want 450 and 18", sent, failed)
	}
}

func TestTallyArithmetic(t *testing.T) {
	got := Tally{Sent: 3, Acknowledged: 2, Ambiguous: 1}.Times(10).Plus(Tally{Sent: 4, Acknowledged: 1, Ambiguous: 2})
	if diff := cmp.Diff(Tally{Sent: 34, Acknowledged: 21, Ambiguous: 12}, got); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
}

func TestEnough(t *testing.T) {
	tests := map[string]struct {
		tally     Tally
		disturbed bool
		err       string
	}{
		"all":                        {tally: Tally{Sent: 100, Acknowledged: 100}},
		"nine of ten":                {tally: Tally{Sent: 100, Acknowledged: 90}},
		"less":                       {tally: Tally{Sent: 100, Acknowledged: 89}, err: "only 89 of 100 were acknowledged"},
		"less, with a pod killed":    {tally: Tally{Sent: 100, Acknowledged: 1}, disturbed: true},
		"nothing, with a pod killed": {tally: Tally{Sent: 100}, disturbed: true, err: "only 0 of 100 were acknowledged"},
		"nothing was sent":           {err: "only 0 of 0 were acknowledged"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.tally.Enough(tc.disturbed); err != nil {
				got = err.Error()
			}
			if got != tc.err {
				t.Errorf("error = %q, want %q", got, tc.err)
			}
		})
	}
}

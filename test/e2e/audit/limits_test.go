package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

func TestLimits(t *testing.T) {
	kept := v1alpha1.RateLimitStatus{Granted: 50, Denied: 150}
	over := v1alpha1.RateLimitStatus{Granted: 200, Denied: 1, OverLimitGrants: 150}
	falsely := v1alpha1.RateLimitStatus{Granted: 42, Denied: 158, FalseDenials: 8}
	const tooMany, denied = "150 grants over the limit: there must be none", "8 false denials: there must be none"
	tests := map[string]struct {
		strategy string
		status   v1alpha1.RateLimitStatus
		err      string
	}{
		"lua keeps the contract":                {strategy: "lua", status: kept},
		"lua grants too much":                   {strategy: "lua", status: over, err: tooMany},
		"lua denies falsely":                    {strategy: "lua", status: falsely, err: denied},
		"transaction keeps the contract":        {strategy: "transaction", status: kept},
		"transaction denies falsely":            {strategy: "transaction", status: falsely, err: denied},
		"transaction-429 is lucky":              {strategy: "transaction-429", status: kept},
		"transaction-429 denies falsely":        {strategy: "transaction-429", status: falsely},
		"transaction-429 grants too much":       {strategy: "transaction-429", status: over, err: tooMany},
		"hash shows its race":                   {strategy: "hash", status: over},
		"hash shows nothing":                    {strategy: "hash", status: kept, err: "no grants over the limit: the flaw of this strategy was not seen"},
		"lua-seconds meets no turn of a second": {strategy: "lua-seconds", status: kept},
		"lua-seconds meets one":                 {strategy: "lua-seconds", status: over},
		"a strategy that nobody knows":          {strategy: "gcra", status: falsely, err: denied},
		"nothing was denied": {
			strategy: "lua", status: v1alpha1.RateLimitStatus{Granted: 50},
			err: "50 granted, 0 denied, 0 not tracked: there is nothing to audit",
		},
		"not every client was tracked": {
			strategy: "lua", status: v1alpha1.RateLimitStatus{Granted: 50, Denied: 1, Untracked: 3},
			err: "50 granted, 1 denied, 3 not tracked: there is nothing to audit",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := (Limits{Strategy: tc.strategy, RateLimitStatus: tc.status}).Err(); err != nil {
				got = err.Error()
			}
			if got != tc.err {
				t.Errorf("error = %q, want %q", got, tc.err)
			}
		})
	}
}

func TestLimited(t *testing.T) {
	step := func(r v1alpha1.RateLimitStatus) v1alpha1.StepStatus {
		return v1alpha1.StepStatus{Result: &v1alpha1.StepResult{RateLimit: &r}}
	}
	got := Limited("hash", v1alpha1.LoadTestStatus{Steps: []v1alpha1.StepStatus{
		{Name: "pause"},
		step(v1alpha1.RateLimitStatus{Clients: 51, Granted: 90, Denied: 10, OverLimitGrants: 7, FalseDenials: 1}),
		step(v1alpha1.RateLimitStatus{Clients: 50, Granted: 9, Denied: 1, OverLimitGrants: 3, FalseDenials: 2, Untracked: 1}),
	}})
	want := Limits{Strategy: "hash", RateLimitStatus: v1alpha1.RateLimitStatus{
		Clients: 51, Granted: 99, Denied: 11, OverLimitGrants: 10, FalseDenials: 3, Untracked: 1,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if got, want := got.String(), "granted 99, denied 11, over the limit 10, denied falsely 3"; got != want {
		t.Errorf("limits say %q, want %q", got, want)
	}
}

func TestBreached(t *testing.T) {
	for want, statuses := range map[bool][]v1alpha1.RateLimitStatus{
		false: {{}, {Granted: 50, Denied: 150}},
		true:  {{OverLimitGrants: 1}, {FalseDenials: 1}},
	} {
		for _, status := range statuses {
			if got := (Limits{RateLimitStatus: status}).Breached(); got != want {
				t.Errorf("%+v: breached = %v, want %v", status, got, want)
			}
		}
	}
}

func TestCountsOfLimits(t *testing.T) {
	answers := Limits{RateLimitStatus: v1alpha1.RateLimitStatus{Granted: 50, Denied: 150}}
	tests := map[string]struct {
		counted Decisions
		lost    int64
		killed  bool
		err     string
	}{
		"as answered":               {counted: Decisions{Granted: 50, Denied: 150}},
		"two answers were lost":     {counted: Decisions{Granted: 51, Denied: 151}, lost: 2},
		"undecided, and told so":    {counted: Decisions{Granted: 50, Denied: 150, Failed: 9}, lost: 9},
		"a grant that nobody gave":  {counted: Decisions{Granted: 49, Denied: 150}, err: "counted 49: 1 of 50 granted were lost"},
		"a denial that nobody gave": {counted: Decisions{Granted: 50, Denied: 149}, err: "counted 149: 1 of 150 denied were lost"},
		"a grant that nobody got": {
			counted: Decisions{Granted: 52, Denied: 150}, lost: 1, err: "counted 52: 1 more than granted 50 and 1 whose end is unknown",
		},
		"one answer is lost once": {
			counted: Decisions{Granted: 51, Denied: 151}, lost: 1, err: "counted 202: 1 more than decided 200 and 1 whose end is unknown",
		},
		"undecided is not granted": {
			counted: Decisions{Granted: 51, Denied: 150, Failed: 9}, lost: 9, err: "counted 51: 1 more than granted 50 and 0 whose end is unknown",
		},
		"a count went with its replica": {counted: Decisions{Granted: 30, Denied: 120}, lost: 4, killed: true},
		"and yet there is too much": {
			counted: Decisions{Granted: 55, Denied: 120}, lost: 4, killed: true, err: "counted 55: 1 more than granted 50 and 4 whose end is unknown",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, c := range answers.Counts(tc.counted, Tally{Ambiguous: tc.lost}, tc.killed) {
				if err := c.Err(); err != nil && got == "" {
					got = err.Error()
				}
			}
			if got != tc.err {
				t.Errorf("error = %q, want %q", got, tc.err)
			}
		})
	}
}

package audit

import (
	"fmt"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLimits(t *testing.T) {
	kept := v1beta1.RateLimitStatus{Granted: 150, Denied: 450}
	over := v1beta1.RateLimitStatus{Granted: 500, Denied: 100, OverLimitGrants: 150}
	falsely := v1beta1.RateLimitStatus{Granted: 142, Denied: 458, FalseDenials: 8}
	const tooMany, denied = "150 grants over the limit: there must be none", "8 false denials: there must be none"
	tests := map[string]struct {
		strategy string
		status   v1beta1.RateLimitStatus
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
		"an unknown strategy":                   {strategy: "gcra", status: falsely, err: denied},
		"just enough of both":                   {strategy: "lua", status: v1beta1.RateLimitStatus{Granted: 100, Denied: 100}},
		"few were granted": {
			strategy: "lua", status: v1beta1.RateLimitStatus{Granted: 99, Denied: 450},
			err: "99 granted, 450 denied, 0 not tracked: the audit needs 100, 100 and 0",
		},
		"few were denied": {
			strategy: "lua", status: v1beta1.RateLimitStatus{Granted: 150, Denied: 99},
			err: "150 granted, 99 denied, 0 not tracked: the audit needs 100, 100 and 0",
		},
		"not every client was tracked": {
			strategy: "lua", status: v1beta1.RateLimitStatus{Granted: 150, Denied: 450, Untracked: 3},
			err: "150 granted, 450 denied, 3 not tracked: the audit needs 100, 100 and 0",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "error", tc.err, said((Limits{Strategy: tc.strategy, RateLimitStatus: tc.status}).Err()))
		})
	}
}

func TestLimited(t *testing.T) {
	step := func(r v1beta1.RateLimitStatus) v1beta1.StepStatus {
		return v1beta1.StepStatus{Result: &v1beta1.StepResult{RateLimit: &r}}
	}
	got := Limited("hash", v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{
		{Name: "pause"},
		step(v1beta1.RateLimitStatus{Clients: 51, Granted: 90, Denied: 10, OverLimitGrants: 7, FalseDenials: 1}),
		step(v1beta1.RateLimitStatus{Clients: 50, Granted: 9, Denied: 1, OverLimitGrants: 3, FalseDenials: 2, Untracked: 1}),
	}})
	want := Limits{Strategy: "hash", RateLimitStatus: v1beta1.RateLimitStatus{
		Clients: 51, Granted: 99, Denied: 11, OverLimitGrants: 10, FalseDenials: 3, Untracked: 1,
	}}
	same.As(t, "limits", want, got)
	same.As(t, "limits say", "granted 99, denied 11, over the limit 10, denied falsely 3", got.String())
}

func TestBreached(t *testing.T) {
	for want, statuses := range map[bool][]v1beta1.RateLimitStatus{
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
	answers := Limits{RateLimitStatus: v1beta1.RateLimitStatus{Granted: 50, Denied: 150}}
	lost := func(n int64) Tally { return Tally{TimedOut: n} }
	unavailable := Tally{Unavailable: 9}
	tests := map[string]struct {
		counted Decisions
		hits    Tally
		killed  bool
		err     string
	}{
		"as answered":                   {counted: Decisions{Granted: 50, Denied: 150}},
		"two answers were late":         {counted: Decisions{Granted: 51, Denied: 151}, hits: lost(2)},
		"two were cut":                  {counted: Decisions{Granted: 51, Denied: 151}, hits: Tally{Unfinished: 2}},
		"undecided, answered 503":       {counted: Decisions{Granted: 50, Denied: 150, Failed: 9}, hits: unavailable},
		"undecided, and late":           {counted: Decisions{Granted: 50, Denied: 150, Failed: 9}, hits: lost(9)},
		"a grant that was not counted":  {counted: Decisions{Granted: 49, Denied: 150}, err: "counted 49: 1 of 50 granted were lost"},
		"a denial that was not counted": {counted: Decisions{Granted: 50, Denied: 149}, err: "counted 149: 1 of 150 denied were lost"},
		"an error that was not counted": {
			counted: Decisions{Granted: 50, Denied: 150, Failed: 8}, hits: unavailable, err: "counted 8: 1 of 9 undecided were lost",
		},
		"a grant that was not answered": {
			counted: Decisions{Granted: 52, Denied: 150}, hits: lost(1), err: "counted 52: 1 more than granted 50 and 1 unknown (1 timed out)",
		},
		"a denial that was not answered": {
			counted: Decisions{Granted: 50, Denied: 152}, hits: lost(1), err: "counted 152: 1 more than denied 150 and 1 unknown (1 timed out)",
		},
		"an error that was not answered": {
			counted: Decisions{Granted: 50, Denied: 150, Failed: 1}, err: "counted 1: 1 more than undecided 0 and 0 unknown",
		},
		"one answer is late once": {
			counted: Decisions{Granted: 51, Denied: 151}, hits: lost(1), err: "counted 202: 1 more than answered 200 and 1 unknown (1 timed out)",
		},
		"undecided is not granted": {
			counted: Decisions{Granted: 51, Denied: 150, Failed: 9}, hits: unavailable,
			err: "counted 51: 1 more than granted 50 and 0 unknown; certainly not stored: 9 answered 503",
		},
		"nothing breaks off unless a pod is killed": {
			counted: Decisions{Granted: 51, Denied: 150}, hits: Tally{Broken: 1},
			err: "counted 51: 1 more than granted 50 and 0 unknown; certainly not stored: 1 broken off",
		},
		"a count went with its replica":          {counted: Decisions{Granted: 30, Denied: 120, Failed: 2}, hits: Tally{Broken: 1, Unavailable: 9}, killed: true},
		"answers were lost with it":              {counted: Decisions{Granted: 53, Denied: 150}, hits: Tally{TimedOut: 1, Broken: 1, ServerErrors: 1}, killed: true},
		"and some were answered without a grant": {counted: Decisions{Granted: 50, Denied: 150, Failed: 1}, hits: Tally{Unavailable: 1}, killed: true},
		"and yet there is too much": {
			counted: Decisions{Granted: 55, Denied: 120}, hits: Tally{TimedOut: 2, Broken: 2}, killed: true,
			err: "counted 55: 1 more than granted 50 and 4 unknown (2 timed out, 2 broken off)",
		},
		"an answer without a grant is no grant": {
			counted: Decisions{Granted: 51, Denied: 120, Failed: 1}, hits: Tally{Unavailable: 1}, killed: true,
			err: "counted 51: 1 more than granted 50 and 0 unknown; certainly not stored: 1 answered 503",
		},
		"and too much in all": {
			counted: Decisions{Granted: 52, Denied: 152}, hits: Tally{Broken: 3}, killed: true,
			err: "counted 204: 1 more than answered 200 and 3 unknown (3 broken off)",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, c := range answers.Counts(tc.counted, tc.hits, tc.killed) {
				if err := c.Err(); err != nil && got == "" {
					got = err.Error()
				}
			}
			same.As(t, "error", tc.err, got)
		})
	}
}

func TestTokens(t *testing.T) {
	limits := Limits{RateLimitStatus: v1beta1.RateLimitStatus{Granted: 50, Denied: 150}}
	hits := Tally{Sent: 210, Acknowledged: 200, TimedOut: 1, Unfinished: 1, Broken: 1, Unavailable: 1, ServerErrors: 1}
	for taken, want := range map[int64]string{
		49: "tokens 49: 1 of 50 granted were lost",
		50: "",
		55: "",
		56: "tokens 56: 1 more than granted 50 and 5 unknown (1 timed out, 1 cut at the end of a step, 1 broken off, 2 answered 5xx)",
	} {
		same.As(t, fmt.Sprint(taken, " tokens"), want, said(limits.Tokens(taken, hits).Err()))
	}
}

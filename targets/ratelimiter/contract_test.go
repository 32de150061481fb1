package ratelimiter_test

import (
	"math"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestContractValidate(t *testing.T) {
	tests := map[string]struct {
		contract ratelimiter.Contract
		want     string
	}{
		"the seed's":       {contract: ratelimiter.Contract{Capacity: 50, RefillPerSecond: 10}},
		"one token a day":  {contract: ratelimiter.Contract{Capacity: 1, RefillPerSecond: 1.0 / 86400}},
		"largest capacity": {contract: ratelimiter.Contract{Capacity: 1_000_000_000, RefillPerSecond: 1e9}},
		"no capacity": {
			contract: ratelimiter.Contract{RefillPerSecond: 10},
			want:     "capacity is 0: use 1 to 1000000000 tokens",
		},
		"capacity too large": {
			contract: ratelimiter.Contract{Capacity: 1_000_000_001, RefillPerSecond: 1e9},
			want:     "capacity is 1000000001: use 1 to 1000000000 tokens",
		},
		"no refill": {
			contract: ratelimiter.Contract{Capacity: 50},
			want:     "refill is 0 tokens per second: use a number above 0",
		},
		"refill is not a number": {
			contract: ratelimiter.Contract{Capacity: 50, RefillPerSecond: math.NaN()},
			want:     "refill is NaN tokens per second: use a number above 0",
		},
		"endless refill": {
			contract: ratelimiter.Contract{Capacity: 50, RefillPerSecond: math.Inf(1)},
			want:     "refill is +Inf tokens per second: use a number above 0",
		},
		"years to fill": {
			contract: ratelimiter.Contract{Capacity: 1_000_000_000, RefillPerSecond: 1},
			want:     "refill of 1 tokens per second takes more than a year to fill 1000000000 tokens: use a larger one",
		},
		"everything at once": {
			contract: ratelimiter.Contract{Capacity: -1, RefillPerSecond: -2},
			want: "capacity is -1: use 1 to 1000000000 tokens\n" +
				"refill is -2 tokens per second: use a number above 0",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.contract.Validate(); err != nil {
				got = err.Error()
			}
			same.As(t, "error", tc.want, got)
		})
	}
}

func TestContractLifetime(t *testing.T) {
	tests := map[string]struct {
		contract       ratelimiter.Contract
		fill, lifetime time.Duration
	}{
		"the seed's":             {ratelimiter.Contract{Capacity: 50, RefillPerSecond: 10}, 5 * time.Second, 10 * time.Second},
		"a fraction of a second": {ratelimiter.Contract{Capacity: 1, RefillPerSecond: 8}, 125 * time.Millisecond, time.Second},
		"slow":                   {ratelimiter.Contract{Capacity: 3, RefillPerSecond: 0.5}, 6 * time.Second, 12 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "FillTime()", tc.fill, tc.contract.FillTime())
			same.As(t, "Lifetime()", tc.lifetime, tc.contract.Lifetime())
		})
	}
}

func TestContractDecide(t *testing.T) {
	contract := ratelimiter.Contract{Capacity: 50, RefillPerSecond: 10}
	tests := map[string]struct {
		allowed bool
		tokens  float64
		want    ratelimiter.Decision
	}{
		"a fraction is not a token": {true, 7.9, ratelimiter.Decision{Allowed: true, Remaining: 7}},
		"empty waits for one token": {false, 0, ratelimiter.Decision{RetryAfter: 100 * time.Millisecond}},
		"half waits half as long":   {false, 0.5, ratelimiter.Decision{RetryAfter: 50 * time.Millisecond}},
		"never below nothing":       {false, -3, ratelimiter.Decision{RetryAfter: 400 * time.Millisecond}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "Decide()", tc.want, contract.Decide(tc.allowed, tc.tokens))
		})
	}
}

func TestStrategiesAreReadByName(t *testing.T) {
	for _, want := range ratelimiter.Strategies() {
		if got, err := ratelimiter.ParseStrategy(string(want)); err != nil || got != want {
			t.Errorf("ParseStrategy(%q) = %q, %v", want, got, err)
		}
	}
	_, err := ratelimiter.ParseStrategy("tokenbucket-lua")
	want := `unknown strategy "tokenbucket-lua": use one of hash, transaction, transaction-429, lua, lua-seconds`
	if err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestPoliciesAreReadByName(t *testing.T) {
	for _, want := range []ratelimiter.FailurePolicy{ratelimiter.Closed, ratelimiter.Open} {
		if got, err := ratelimiter.ParseFailurePolicy(string(want)); err != nil || got != want {
			t.Errorf("ParseFailurePolicy(%q) = %q, %v", want, got, err)
		}
	}
	_, err := ratelimiter.ParseFailurePolicy("half-open")
	if want := `unknown policy "half-open": use closed or open`; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

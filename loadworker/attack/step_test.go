package attack

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestCheckRefusesInvalidSteps(t *testing.T) {
	good := StepShare{Index: 3, Share: all(2), Total: 2, Load: ClosedUsers{Duration: time.Second}}
	tests := map[string]struct {
		change func(*StepShare)
		want   string
	}{
		"good":                  {change: func(*StepShare) {}},
		"an empty share":        {change: func(s *StepShare) { s.Share = pace.Share{First: 9, Stride: 2} }},
		"no load":               {change: func(s *StepShare) { s.Load = nil }, want: "step 3: no load of a known kind"},
		"no duration":           {change: func(s *StepShare) { s.Load = ClosedUsers{} }, want: "step 3: duration must be positive, is 0s"},
		"no rate":               {change: func(s *StepShare) { s.Load = PacedUsers{Duration: 1} }, want: "step 3: rate must be positive, is 0 per 1,000,000 s"},
		"a warm-up in the past": {change: func(s *StepShare) { s.WarmUp = -1 }, want: "step 3: warm-up must not be negative, is -1ns"},
		"a warm burst": {
			change: func(s *StepShare) { s.Load, s.WarmUp = Burst{Requests: 1, Limit: 1}, 1 },
			want:   "step 3: a burst has no warm-up: all of its requests count",
		},
		"a ramp to below zero": {
			change: func(s *StepShare) { s.Load = Arrivals{Rate: 1, End: -1, Duration: 1} },
			want:   "step 3: rate must be positive, is -1 per 1,000,000 s",
		},
		"a ramp that is too long": {
			change: func(s *StepShare) { s.Load = Arrivals{Rate: 1, End: 2, Duration: 40 * time.Hour} },
			want:   "step 3: duration of a ramp or of Poisson arrivals must be at most 39h0m0s, is 40h0m0s",
		},
		"a ramp of users": {
			change: func(s *StepShare) { s.Load = RampedUsers{From: 1, To: 2, Each: 1, Duration: 1} },
		},
		"a ramp to no users": {
			change: func(s *StepShare) { s.Load = RampedUsers{From: 2, Duration: 1} },
			want:   "step 3: a ramp must have at least one user, has 2 to 0",
		},
		"a ramp of other users": {
			change: func(s *StepShare) { s.Load = RampedUsers{From: 1, To: 3, Duration: 1} },
			want:   "step 3: a ramp of 1 to 3 users has not 2",
		},
		"a ramp of users with a rate who think": {
			change: func(s *StepShare) { s.Load = RampedUsers{From: 1, To: 2, Each: 1, Think: fixed(1), Duration: 1} },
			want:   "step 3: users with a rate do not think",
		},
		"a think time that is no range": {
			change: func(s *StepShare) { s.Load = ClosedUsers{Think: pace.Think{Shortest: 2, Longest: 1}, Duration: 1} },
			want:   "step 3: think time must not be negative, and its range in order, is 2ns to 1ns",
		},
		"no arrivals":      {change: func(s *StepShare) { s.Load = Arrivals{Rate: -1, Duration: 1} }, want: "step 3: rate must be positive, is -1 per 1,000,000 s"},
		"no requests":      {change: func(s *StepShare) { s.Load = Burst{Limit: 1} }, want: "step 3: requests per user must be at least 1, is 0"},
		"no stride":        {change: func(s *StepShare) { s.Share.Stride = 0 }, want: "step 3: share {First:0 Stride:0 Count:2} is invalid"},
		"beyond the total": {change: func(s *StepShare) { s.Share.Count = 3 }, want: "step 3: share {First:0 Stride:1 Count:3} is not within 2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			step, got := good, ""
			tt.change(&step)
			if err := step.Check(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("Check() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNewRunnerRefusesInvalidConfigurations(t *testing.T) {
	src, err := source.New(source.Config{Requests: []source.Request{get("/")}})
	must.Succeed(t, err)
	dialer, err := dial.NewDialer(dial.Config{URL: "http://x"})
	must.Succeed(t, err)
	client := http1.NewClient(dialer, "")
	tests := map[string]struct {
		config Config
		want   string
	}{
		"nothing to send": {Config{Client: client, Timeout: 1, MaxConnections: 1}, "runner: needs a source and a client"},
		"no timeout":      {Config{Source: src, Client: client, MaxConnections: 1}, "target timeout: must be positive"},
		"no connections":  {Config{Source: src, Client: client, Timeout: 1}, "runner: needs at least one connection"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := NewRunner(tt.config); err == nil || err.Error() != tt.want {
				t.Errorf("NewRunner = %v, want %s", err, tt.want)
			}
		})
	}
}

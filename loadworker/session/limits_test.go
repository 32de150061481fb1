package session

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
)

func TestLimits(t *testing.T) {
	closed := attack.ClosedUsers{Duration: time.Second}
	users := func(mine, total int64) attack.Step {
		return attack.Step{Index: 4, Share: pace.Share{Stride: 2, Count: mine}, Total: total, Load: closed}
	}
	hits := attack.Step{Share: pace.Share{Stride: 1, Count: 1e6}, Total: 1e6, Load: attack.Arrivals{Rate: 1, Duration: 1}}
	tests := map[string]struct {
		limits Limits
		step   attack.Step
		want   string
	}{
		"fits exactly":        {Limits{1064, 28232}, users(1000, 2000), ""},
		"arrivals always fit": {Limits{1064, 28232}, hits, ""},
		"too few descriptors": {
			Limits{1064, 28232}, users(1001, 2001),
			"step 4 gives the worker 1001 users, but it can hold 1000 connections (1064 file descriptors, 28232 ports): set spec.parallelism to 3 or more",
		},
		"too few ports": {
			Limits{1 << 20, 100}, users(500, 1000),
			"step 4 gives the worker 500 users, but it can hold 100 connections (1048576 file descriptors, 100 ports): set spec.parallelism to 10 or more",
		},
		"none at all": {
			Limits{64, 28232}, hits,
			"the worker may open 64 files, which is too few for any connection; raise the limit on open files",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tt.limits.check([]attack.Step{users(1, 1), tt.step}); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("check = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSystemLimits(t *testing.T) {
	if l := SystemLimits(); l.Descriptors < 1 || l.Ports < 1 {
		t.Errorf("SystemLimits() = %+v, want some of each", l)
	}
}

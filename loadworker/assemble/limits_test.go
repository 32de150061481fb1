package assemble

import (
	"math"
	"runtime/debug"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

func TestLimits(t *testing.T) {
	closed := attack.ClosedUsers{Duration: time.Second}
	users := func(mine, total int64) attack.StepShare {
		return attack.StepShare{Index: 4, Share: pace.Share{Stride: 2, Count: mine}, Total: total, Load: closed}
	}
	hits := attack.StepShare{Share: pace.Share{Stride: 1, Count: 1e6}, Total: 1e6, Load: attack.Arrivals{Rate: 1, Duration: 1}}
	memory := func(bytes int64) health.Limits {
		return health.Limits{Descriptors: 1 << 20, Ports: 28232, Memory: bytes}
	}
	tests := map[string]struct {
		limits health.Limits
		step   attack.StepShare
		want   string
	}{
		"fits exactly":        {health.Limits{Descriptors: 1064, Ports: 28232}, users(1000, 2000), ""},
		"arrivals always fit": {health.Limits{Descriptors: 1064, Ports: 28232}, hits, ""},
		"too few descriptors": {
			health.Limits{Descriptors: 1064, Ports: 28232}, users(1001, 2001),
			"step 4 gives the worker 1001 users, but it can hold 1000 connections (1064 file descriptors, 28232 ports): set spec.parallelism to 3 or more",
		},
		"too few ports": {
			health.Limits{Descriptors: 1 << 20, Ports: 100}, users(500, 1000),
			"step 4 gives the worker 500 users, but it can hold 100 connections (1048576 file descriptors, 100 ports): set spec.parallelism to 10 or more",
		},
		"none at all": {
			health.Limits{Descriptors: 64, Ports: 28232}, hits,
			"the worker may open 64 files, which is too few for any connection; raise the limit on open files",
		},
		"memory that just suffices": {memory(31 * mib), users(104, 208), ""},
		"too little memory": {
			memory(31 * mib), users(105, 210),
			"step 4 gives the worker 105 users, which take 32Mi of memory, but it may use 31Mi: set spec.parallelism to 3 or more, or spec.worker.resources.limits.memory to 32Mi",
		},
		"too little for many": {
			memory(64 * mib), users(10_000, 20_000),
			"step 4 gives the worker 10000 users, which take 126Mi of memory, but it may use 64Mi: set spec.parallelism to 6 or more, or spec.worker.resources.limits.memory to 126Mi",
		},
		"none for any": {
			memory(30 * mib), hits,
			"the worker may use 30Mi of memory, but needs 31Mi before any connection: raise spec.worker.resources.limits.memory",
		},
		"descriptors come first": {
			health.Limits{Descriptors: 74, Ports: 28232, Memory: 31 * mib}, users(200, 200),
			"step 4 gives the worker 200 users, but it can hold 10 connections (74 file descriptors, 28232 ports): set spec.parallelism to 20 or more",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := checkLimits(tt.limits, []attack.StepShare{users(1, 1), tt.step}, need{base: 30 * mib, each: 10_000}); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("check = %q, want %q", got, tt.want)
			}
		})
	}
}

// Arrivals, which open connections as they need them, open no more than fit.
func TestConnections(t *testing.T) {
	tests := map[string]struct {
		limits health.Limits
		want   int64
	}{
		"descriptors":      {health.Limits{Descriptors: 1064, Ports: 28232, Memory: 1 << 40}, 1000},
		"ports":            {health.Limits{Descriptors: 1 << 20, Ports: 28232, Memory: 1 << 40}, 28232},
		"memory":           {health.Limits{Descriptors: 1 << 20, Ports: 28232, Memory: 30*mib + 50*10_000}, 50},
		"memory not known": {health.Limits{Descriptors: 1064, Ports: 28232}, 1000},
		"no descriptors":   {health.Limits{Descriptors: 10, Ports: 28232}, 0},
		"no memory":        {health.Limits{Descriptors: 1064, Ports: 28232, Memory: mib}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := connections(tt.limits, need{base: 30 * mib, each: 10_000}); got != tt.want {
				t.Errorf("%d connections, want %d", got, tt.want)
			}
		})
	}
}

// Each request of the mix has histograms of its own.
func TestNeedGrowsWithTheMix(t *testing.T) {
	a := &workerv1.Assignment{Target: &workerv1.Target{Url: "http://x"}}
	for n := int64(1); n <= 32; n++ {
		a.Requests = append(a.Requests, &workerv1.Request{})
		got := memoryNeed(a)
		if got.base < baseMemory+n*mib || got.base > baseMemory+320*mib || got.each != connectionMemory(a.Target, 0) {
			t.Errorf("%d requests need %+v, want at least a MiB for each", n, got)
		}
	}
}

// TLS takes more memory than none, and net/http more than our own clients.
func TestConnectionMemory(t *testing.T) {
	const h2, proxy = workerv1.Protocol_PROTOCOL_HTTP2, "http://proxy"
	last := int64(kernelMemory)
	for _, target := range []*workerv1.Target{
		{Url: "http://x"},
		{Url: "http://x", ProxyUrl: proxy},
		{Url: "https://x"},
		{Url: "https://x", Tls: &workerv1.TLS{Resume: true}},
		{Url: "https://x", ProxyUrl: proxy, DisableKeepAlive: true},
		{Url: "https://x", Protocol: h2, ProxyUrl: proxy},
	} {
		got := connectionMemory(target, 0)
		if got <= last || got > 64*kib {
			t.Errorf("%v takes %d bytes, want more than %d and at most 64 KiB", target, got, last)
		}
		last = got
	}
}

// A worker whose limit is not known collects garbage as it likes.
func TestMemoryGoal(t *testing.T) {
	for memory, want := range map[int64]int64{0: math.MaxInt64, 100 * mib: 80 * mib} {
		if got := MemoryGoal(health.Limits{Memory: memory}); got != want {
			t.Errorf("the goal of %d is %d, want %d", memory, got, want)
		}
	}
}

func TestMemoryIsLimited(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	for given, want := range map[string]int64{"": 800_000_000, "1GiB": before} {
		debug.SetMemoryLimit(before)
		LimitMemory(func(string) string { return given }, health.Limits{Memory: 1_000_000_000})
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("GOMEMLIMIT %q: the limit is %d, want %d", given, got, want)
		}
	}
}

// Bodies take a part of what the connections leave.
func TestMemoryOfBodies(t *testing.T) {
	users := func(n int64) []attack.StepShare {
		return []attack.StepShare{
			{Share: pace.Share{Stride: 1, Count: 1}, Load: attack.ClosedUsers{}},
			{Share: pace.Share{Stride: 1, Count: n}, Load: attack.ClosedUsers{}},
		}
	}
	for name, tt := range map[string]struct {
		limit int64
		users int64
		want  int64
	}{
		"unknown memory":             {0, 2500, 256 * mib},
		"much memory":                {64 << 30, 2500, 256 * mib},
		"a quarter of what is left":  {130*mib + 2500*10_000, 2500, 25 * mib},
		"connections that take all":  {30*mib + 2500*10_000, 2500, 8 * mib},
		"connections that take most": {50*mib + 2500*10_000, 2500, 8 * mib},
	} {
		if got := memoryOfBodies(health.Limits{Memory: tt.limit}, users(tt.users), need{base: 30 * mib, each: 10_000}); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

package health

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLongestPauseIsAnUpperBound(t *testing.T) {
	buckets := []float64{0, 0.001, 0.01, math.Inf(1)}
	at := func(counts ...uint64) pauses { return pauses{counts: counts, buckets: buckets} }
	tests := map[string]struct {
		before, now pauses
		want        time.Duration
	}{
		"none":                       {at(3, 1, 0), at(3, 1, 0), 0},
		"a short one":                {at(3, 1, 0), at(4, 1, 0), time.Millisecond},
		"the longest of several":     {at(3, 1, 0), at(9, 2, 0), 10 * time.Millisecond},
		"one without an upper bound": {at(3, 1, 0), at(3, 1, 1), 10 * time.Millisecond},
		"since the beginning":        {pauses{}, at(1, 0, 0), time.Millisecond},
		"nothing is known":           {pauses{}, pauses{}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.now.longestSince(tt.before); got != tt.want {
				t.Errorf("longest pause %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSinceIsTheGrowthOfASample(t *testing.T) {
	before := Sample{cpu: time.Second, throttled: 2 * time.Second}
	got := Sample{cpu: 4 * time.Second, throttled: 2500 * time.Millisecond}.Since(before)
	want := measure.Health{CPU: 3 * time.Second, CPUThrottled: 500 * time.Millisecond, CPUThrottledMax: 500 * time.Millisecond}
	same.As(t, "health", want, got)
	// A new control group counts from 0.
	if got := (Sample{}).Since(before); got != (measure.Health{}) {
		t.Errorf("backwards: %+v, want nothing", got)
	}
}

// The probe reads the nearest group that reports throttling.
func TestNewProbeFindsTheNearestGroup(t *testing.T) {
	const own, around = "/sys/fs/cgroup/pod/cpu.stat", "/sys/fs/cgroup/cpu.stat"
	tests := map[string]struct {
		said map[string]string
		want string
	}{
		"its own":                     {map[string]string{own: "throttled_usec 0\n", around: "throttled_usec 5\n"}, own},
		"its own says nothing of it":  {map[string]string{own: "usage_usec 5\n", around: "throttled_usec 5\n"}, around},
		"its own cannot be seen":      {map[string]string{around: "throttled_usec 5\n"}, around},
		"none that bounds processors": {map[string]string{own: "usage_usec 5\n"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.said[groupsFile], tt.said[mountsFile] = "0::/pod\n", unified
			if got := newProbe(files(tt.said)).statFile; got != tt.want {
				t.Errorf("the probe reads %q, want %q", got, tt.want)
			}
		})
	}
}

func TestProbeReadsTheGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.stat")
	write := func(text string) {
		must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
	}
	p := Probe{statFile: file}
	write("throttled_usec 1000\n")
	before := p.Sample()
	write("throttled_usec 4000\n")
	if got := p.Sample().Since(before).CPUThrottled; got != 3*time.Millisecond {
		t.Errorf("throttled for %v, want 3ms", got)
	}
	must.Succeed(t, os.Remove(file))
	if got := p.Sample().Since(before).CPUThrottled; got != 0 {
		t.Errorf("throttled for %v without a file to read", got)
	}
}

// Work takes processor time, and a collection pauses.
func TestSampleOfThisProcess(t *testing.T) {
	p := NewProbe()
	before := p.Sample()
	var got measure.Health
	for deadline := time.Now().Add(30 * time.Second); got.CPU == 0 || got.GCPauseMax == 0; {
		if time.Now().After(deadline) {
			t.Fatalf("after 30 s of work: %+v, want processor time and a pause", got)
		}
		runtime.GC()
		got = p.Sample().Since(before)
	}
}

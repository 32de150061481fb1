package health

import (
	"math"
	"os"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Probe takes samples. The zero value reads no control group.
type Probe struct {
	statFile string // cpu.stat; empty: none
}

// NewProbe returns a probe of the nearest control group of this process that limits
// its processor time, if there is one.
func NewProbe() Probe { return newProbe(os.ReadFile) }

func newProbe(read readFile) Probe {
	groups, _ := read(groupsFile) // absent: nothing is throttled
	mounts, _ := read(mountsFile)
	for _, file := range statFiles(string(groups), string(mounts)) {
		stat, _ := read(file)
		if _, ok := throttled(string(stat)); ok {
			return Probe{statFile: file}
		}
	}
	return Probe{}
}

// Sample is the state of the system's counters at an instant.
type Sample struct {
	cpu, throttled, waited time.Duration
	pauses                 pauses
}

// Sample takes a sample.
func (p Probe) Sample() Sample {
	s := Sample{cpu: processorTime(), waited: runQueueWait(os.DirFS(threadsFolder)), pauses: gcPauses()}
	if p.statFile != "" {
		stat, _ := os.ReadFile(p.statFile) // a group that no longer exists throttles nothing
		s.throttled, _ = throttled(string(stat))
	}
	return s
}

// Since returns the health between two samples.
func (s Sample) Since(before Sample) measure.Health {
	throttled, waited := max(0, s.throttled-before.throttled), max(0, s.waited-before.waited)
	return measure.Health{
		CPU:             max(0, s.cpu-before.cpu),
		CPUThrottled:    throttled,
		CPUThrottledMax: throttled,
		RunQueueWait:    waited,
		RunQueueWaitMax: waited,
		GCPauseMax:      s.pauses.longestSince(before.pauses),
	}
}

// pauses is a histogram of the pauses of the garbage collector.
type pauses struct {
	counts  []uint64
	buckets []float64 // bounds in seconds, one more than counts
}

const pausesMetric = "/sched/pauses/total/gc:seconds"

func gcPauses() pauses {
	sample := []metrics.Sample{{Name: pausesMetric}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return pauses{}
	}
	h := sample[0].Value.Float64Histogram()
	return pauses{counts: slices.Clone(h.Counts), buckets: h.Buckets}
}

// longestSince returns an upper bound of the longest pause since then, 0 if there was
// none. The last bucket has only a lower bound, which is returned.
func (p pauses) longestSince(before pauses) time.Duration {
	for i := len(p.counts) - 1; i >= 0; i-- {
		if i < len(before.counts) && p.counts[i] <= before.counts[i] || p.counts[i] == 0 {
			continue
		}
		bound := p.buckets[i+1]
		if math.IsInf(bound, 1) {
			bound = p.buckets[i]
		}
		return time.Duration(bound * float64(time.Second))
	}
	return 0
}

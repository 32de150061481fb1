package soak

import (
	"fmt"
	"strings"
)

// Sample is what the process of the operator that leads holds while there is no LoadTest.
type Sample struct {
	// Process is which one it is.
	Process                           string
	Goroutines, Descriptors, Sessions int
	// Live are the bytes that the last garbage collection has found in use, and Resident
	// those of the process.
	Live, Resident int64
}

// The bounds of what a process may hold more after a lap than before it. The second lap
// of a quarter of an hour has some 150 runs.
const (
	// moreGoroutines is less than one for ten runs. What comes and goes without any run:
	// a renewal of the lease, a scrape, a watch that is opened again.
	moreGoroutines = 10
	// moreDescriptors is less than one for ten runs. A connection to the API server is
	// opened again before the one that was reset is closed.
	moreDescriptors = 10
	// moreLive is 64 KB a run, about what the objects of one take. The buffers of what
	// was last read and written, and maps that have grown and do not shrink, are less.
	moreLive = 10 << 20
	// moreResident is for the pages that the runtime keeps of the time in which most was
	// in use. It returns them to the kernel in minutes.
	moreResident = 40 << 20
)

// Leaks are what a process holds after a lap that it did not hold before. Nothing can be
// said of another process, which counts as one.
func Leaks(before, after Sample) (leaks []string) {
	if before.Process != after.Process {
		return []string{fmt.Sprintf("unknown: the operator's process was replaced, %s by %s", before.Process, after.Process)}
	}
	compare := func(what string, before, after, more int64, unit int64) {
		if after > before+more {
			leaks = append(leaks, fmt.Sprintf("%s: %d, before %d; more than %d more", what, after/unit, before/unit, more/unit))
		}
	}
	compare("goroutines", int64(before.Goroutines), int64(after.Goroutines), moreGoroutines, 1)
	compare("descriptors", int64(before.Descriptors), int64(after.Descriptors), moreDescriptors, 1)
	compare("sessions", 0, int64(after.Sessions), 0, 1)
	compare("KB in use", before.Live, after.Live, moreLive, 1<<10)
	compare("KB resident", before.Resident, after.Resident, moreResident, 1<<10)
	return leaks
}

func (s Sample) String() string {
	return fmt.Sprintf("goroutines=%d descriptors=%d sessions=%d in-use-mb=%.1f rss-mb=%d",
		s.Goroutines, s.Descriptors, s.Sessions, float64(s.Live)/(1<<20), s.Resident>>20)
}

// Report is what a soak has found.
type Report struct {
	Runs int
	// Stuck are the LoadTests that did not end, or were not removed; Leaked what is left
	// of others, and what the operator holds of them.
	Stuck, Leaked []string
	// Wrong are the runs whose status is not what the target counted.
	Wrong         []string
	Before, After Sample
}

// OK says whether nothing was found.
func (r Report) OK() bool { return len(r.Stuck)+len(r.Leaked)+len(r.Wrong) == 0 }

// String is the last line.
func (r Report) String() string {
	return fmt.Sprintf("soak: runs=%d stuck=%d leaks=%d rss-mb-first=%d rss-mb-last=%d",
		r.Runs, len(r.Stuck), len(r.Leaked), r.Before.Resident>>20, r.After.Resident>>20)
}

// Details name what was found, a line each.
func (r Report) Details() string {
	var b strings.Builder
	for _, found := range []struct {
		what string
		all  []string
	}{{"stuck", r.Stuck}, {"leaked", r.Leaked}, {"wrong", r.Wrong}} {
		for _, text := range found.all {
			fmt.Fprintf(&b, "PROBLEM %s: %s\n", found.what, text)
		}
	}
	return b.String()
}

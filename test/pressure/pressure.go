package pressure

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	pressureFile = "/proc/pressure/cpu"
	statFile     = "/proc/stat"
)

const (
	// busyWaiting is from which share of the time on, in which something waited for a
	// processor, a machine is busy: 1/5. It is chosen, not measured. A run of its own makes
	// others wait for a moment, too.
	busyWaiting = 0.2
	// busyStolen is the same for the share of the processors' time that the host gave to
	// others: 1/20.
	busyStolen = 0.05
	// mostExcused is how large a part of a suite may be excused: 1/3.
	mostExcused = 3
	// fewest is how many judgements a suite has. One or two that are excused must not be too
	// many by themselves, as of one test that runs alone: from 6 on it takes a third one.
	fewest = 6
)

// Meter knows what the machine said when it was started.
type Meter struct {
	at   time.Time
	said sample
	ok   bool
}

// Start reads what the machine says now.
func Start() Meter {
	said, ok := read()
	return Meter{time.Now(), said, ok}
}

// Read is what the machine says of the time since the start.
func (m Meter) Read() Reading {
	now, ok := read()
	if !ok || !m.ok {
		return Reading{}
	}
	return between(m.said, now, time.Since(m.at))
}

func read() (sample, bool) {
	pressure, err := os.ReadFile(pressureFile)
	if err != nil {
		return sample{}, false
	}
	stat, err := os.ReadFile(statFile)
	if err != nil {
		return sample{}, false
	}
	return parse(string(pressure), string(stat))
}

// sample is what both files say since the machine was started.
type sample struct {
	// waited is for how long something waited for a processor.
	waited time.Duration
	// stolen and all are ticks of all processors: those that the host gave to others, and
	// all.
	stolen, all int64
}

// parse reads the texts of both files: Documentation/accounting/psi.rst and proc_stat(5) of
// Linux.
func parse(pressure, stat string) (s sample, ok bool) {
	for line := range strings.Lines(pressure) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "some" {
			continue
		}
		for _, field := range fields[1:] {
			total, found := strings.CutPrefix(field, "total=")
			micros, err := strconv.ParseInt(total, 10, 64)
			if found && err == nil {
				s.waited, ok = time.Duration(micros)*time.Microsecond, true
			}
		}
	}
	// user, nice, system, idle, iowait, irq, softirq, steal; guests are in user.
	const steal = 8
	fields := strings.Fields(strings.SplitN(stat, "\n", 2)[0])
	if len(fields) <= steal || fields[0] != "cpu" {
		return sample{}, false
	}
	for i := 1; i <= steal; i++ {
		ticks, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return sample{}, false
		}
		if s.all += ticks; i == steal {
			s.stolen = ticks
		}
	}
	return s, ok
}

// between is what the machine says of the time between two samples.
func between(from, to sample, took time.Duration) Reading {
	r := Reading{Known: took > 0}
	if took > 0 {
		r.Waiting = float64(to.waited-from.waited) / float64(took)
	}
	if all := to.all - from.all; all > 0 {
		r.Stolen = float64(to.stolen-from.stolen) / float64(all)
	}
	return r
}

// Reading is what the machine says of a time.
type Reading struct {
	// Known is false if the machine does not say.
	Known bool
	// Waiting is the share of the time in which something waited for a processor, and
	// Stolen the share of the processors' time that the host gave to others: 0 to 1.
	Waiting, Stolen float64
}

// Busy says whether the machine had so little to spare that a generator may have been late
// for that.
func (r Reading) Busy() bool {
	return r.Known && (r.Waiting >= busyWaiting || r.Stolen >= busyStolen)
}

func (r Reading) String() string {
	if !r.Known {
		return "the machine does not say how busy it was"
	}
	return fmt.Sprintf("waiting %.0f%%, stolen %.0f%%", 100*r.Waiting, 100*r.Stolen)
}

// TooMany says whether so many of a suite's judgements were excused that it judged nothing:
// more than a third. A few judgements are no suite.
func TooMany(excused, of int) bool { return of >= fewest && mostExcused*excused > of }

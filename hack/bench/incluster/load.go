package incluster

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"
)

const (
	// Workers is how many each tool has.
	Workers = 2
	// latency is the time for which the target of known truth holds each response.
	latency = 5 * time.Millisecond
	// stall is how long it stands still in the test that has a stall.
	stall = 2 * time.Second
	// shortener and truth are the targets, by the names of their Services.
	shortener, truth = "shortener", "truth"
	// knownRate is the rate at the target of known truth.
	knownRate = 500
)

// Test is a load, what happens during it, and its target.
type Test struct {
	// Name is shortener, stall or killed.
	Name, Target string
	// Rate is requests a second, for Seconds.
	Rate, Seconds int
	// StallAt is when the target stands still for StallFor, from the first request on; 0: never.
	StallAt, StallFor time.Duration
	// KillAt is when a worker is killed, from the first request on; 0: never.
	KillAt time.Duration
}

// Tests are those that each tool carries out, each of so many seconds.
func Tests(seconds int) (list []Test) {
	for _, rate := range []int{200, 500, 1000} {
		list = append(list, Test{Name: "shortener", Target: shortener, Rate: rate, Seconds: seconds})
	}
	early := time.Duration(seconds) * time.Second * 2 / 5
	known := Test{Target: truth, Rate: knownRate, Seconds: seconds}
	stalled, killed := known, known
	stalled.Name, stalled.StallAt, stalled.StallFor = "stall", early, stall
	killed.Name, killed.KillAt = "killed", early
	return append(list, stalled, killed)
}

// Due is how many requests the load has.
func (t Test) Due() int64 { return int64(t.Rate) * int64(t.Seconds) }

// Mix says whether the load is the shortener's mix: of five requests one creates a link.
func (t Test) Mix() bool { return t.Target == shortener }

// Workers is how many workers share the load.
func (t Test) Workers() int { return Workers }

// Latency is that of the target of known truth.
func (t Test) Latency() time.Duration { return latency }

// Records is of how many requests it keeps the times: of all.
func (t Test) Records() int64 { return 2 * t.Due() }

// LocustSeconds is its run time: its users wait for a second or more before they send once in each.
func (t Test) LocustSeconds() int { return t.Seconds + 1 }

// PreAllocated is how many users of k6 wait for requests when the test begins.
func (t Test) PreAllocated() int { return t.Rate / 5 }

// MaxUsers is the limit on users of k6. All requests that come due in a stall of two seconds may have one,
// and half as many more.
func (t Test) MaxUsers() int { return 3 * t.Rate }

//go:embed manifests
var files embed.FS

var manifests = template.Must(template.ParseFS(files, "manifests/*.yaml"))

// Manifest is what a tool, or the target of known truth, is told to do for a test.
func Manifest(name string, t Test) (string, error) {
	var text strings.Builder
	if err := manifests.ExecuteTemplate(&text, name+".yaml", t); err != nil {
		return "", fmt.Errorf("manifest of %s: %w", name, err)
	}
	return text.String(), nil
}

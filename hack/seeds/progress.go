package main

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
)

// progress says how long is left, by what is planned and how long the part of it that
// is done took.
type progress struct {
	now           func() time.Time
	started       time.Time
	total, number int
	// planned is about how long what is not done yet takes, done what was planned of the
	// rest.
	planned, done time.Duration
}

func newProgress(jobs []job) *progress {
	p := &progress{now: time.Now, total: len(jobs)}
	p.started = p.now()
	for _, j := range jobs {
		p.planned += j.length
	}
	return p
}

// begin is the title of an experiment.
func (p *progress) begin(j job) string {
	if p.number == 0 {
		p.started = p.now()
	}
	p.number++
	return fmt.Sprintf("[%d/%d] %s: %d load tests, about %s; %s", p.number, p.total, j.Name, len(j.tests), round(j.length), p.left())
}

func (p *progress) end(j job) {
	p.planned -= j.length
	p.done += j.length
}

// left scales what is planned by how true the plan was so far.
func (p *progress) left() string {
	left := p.planned
	if p.done > 0 {
		left = time.Duration(float64(left) * float64(p.now().Sub(p.started)) / float64(p.done))
	}
	return fmt.Sprintf("about %s left", round(left))
}

func round(d time.Duration) time.Duration {
	if d > 10*time.Minute {
		return d.Round(time.Minute)
	}
	return d.Round(time.Second)
}

// What it takes until a target serves, and to remove it, on two cores: three databases
// and a broker take longest.
const (
	bringLimiter   = 20 * time.Second
	bringStore     = 15 * time.Second
	bringShortener = 30 * time.Second
	bringSharded   = 45 * time.Second
)

func bring(e experiment.Experiment) time.Duration {
	switch e.Seed() {
	case "001":
		return bringSharded
	case "003":
		return bringStore
	case "004":
		return bringLimiter
	}
	return bringShortener
}

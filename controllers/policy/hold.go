package policy

import (
	"strings"
	"time"
)

// Hold is why no run of a namespace may begin.
type Hold struct {
	Cause Cause
	// Why is a sentence.
	Why string
	// Until is the instant at which it is over; zero: that is not known.
	Until time.Time
}

// Cause is what holds runs.
type Cause int

const (
	// Invalid is a configuration that cannot be read. Runs that have begun go on.
	Invalid Cause = iota
	// Stopped is a stop. It ends runs that have begun.
	Stopped
)

// Hold says whether runs may begin and go on; nil: they may.
func (r Rules) Hold(_ time.Time) *Hold {
	if r.invalid != "" {
		return &Hold{Cause: Invalid, Why: r.invalid}
	}
	return nil
}

// Free are the same rules without what holds runs.
func (r Rules) Free() Rules {
	r.invalid = ""
	return r
}

// invalid is why no run may begin, if a document could not be read and none that is
// valid was in force before.
func (p *Policy) invalid() string {
	var problems []string
	for _, err := range []error{p.badConfig, p.badStops} {
		if err != nil {
			problems = append(problems, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	if len(problems) == 0 {
		return ""
	}
	return "The operator's configuration is invalid, and no run begins until its administrator corrects it: " + strings.Join(problems, "; ") + "."
}

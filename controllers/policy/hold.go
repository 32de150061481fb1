package policy

import (
	"fmt"
	"strings"
	"time"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Hold is why no run of a namespace may begin.
type Hold struct {
	Cause Cause
	// Why is a sentence.
	Why string
	// Until is the instant at which it is over; zero: that is not known.
	Until time.Time
}

// Ends says whether runs that have begun end as well.
func (h *Hold) Ends() bool { return h != nil && h.Cause != Invalid }

// Cause is what holds runs.
type Cause int

const (
	// Invalid is a configuration that cannot be read. Runs that have begun go on.
	Invalid Cause = iota
	// Stopped is a stop.
	Stopped
	// Quiet are quiet hours.
	Quiet
)

// Hold says whether runs may begin and go on; nil: they may.
func (r Rules) Hold(now time.Time) *Hold {
	if r.stop != nil {
		return &Hold{Cause: Stopped, Why: sentenceOf(r.stop)}
	}
	if h := quietAt(r.quiet, now); h != nil {
		return h
	}
	if r.invalid != "" {
		return &Hold{Cause: Invalid, Why: r.invalid}
	}
	return nil
}

// Valid says whether the rules are those of a configuration that could be read.
func (r Rules) Valid() bool { return r.invalid == "" }

// NextQuiet is when quiet hours begin next; zero: there are none.
func (r Rules) NextQuiet(now time.Time) time.Time { return nextQuiet(r.quiet, now) }

// Free are the same rules without what holds runs.
func (r Rules) Free() Rules {
	r.stop, r.quiet, r.invalid = nil, nil, ""
	return r
}

// maxWords bounds what is quoted of a reason or a name.
const maxWords = 256

// sentenceOf says by whom and why runs are stopped.
func sentenceOf(s *config.Stop) string {
	said := "Stopped"
	if s.By != "" {
		said += " by " + text.Clean(s.By, maxWords)
	}
	return said + because(s.Reason) + " (operator configuration)."
}

// because is a reason as a part of a sentence.
func because(reason string) string {
	reason = strings.TrimSuffix(strings.TrimSpace(text.Clean(reason, maxWords)), ".")
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// stopOf is the stop that is about a namespace: that of the configuration comes before
// those of the switch. nil: there is none.
func (p *Policy) stopOf(namespace string) *config.Stop {
	if s := p.config.Stop; s != nil && selects(s.Namespaces, namespace) {
		return s
	}
	for i := range p.stops {
		if s := &p.stops[i]; selects(s.Namespaces, namespace) {
			return s
		}
	}
	return nil
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
	return fmt.Sprintf("The operator's configuration is invalid, and no run begins until its administrator corrects it: %s.", strings.Join(problems, "; "))
}

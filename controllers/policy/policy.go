package policy

import (
	"errors"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// Policy is a configuration that was checked. It does not change.
type Policy struct {
	checked
	// stops are those of the switch.
	stops []config.Stop
	// badConfig and badStops are what is wrong with a document that could not be read,
	// if none was in force before it.
	badConfig, badStops error
}

// checked is a document that was checked, and what was read of it.
type checked struct {
	config config.OperatorConfiguration
	quiet  []quietHours
}

// New checks a configuration.
func New(c config.OperatorConfiguration) (*Policy, error) {
	if err := checkType(c.APIVersion, c.Kind, config.Kind); err != nil {
		return nil, err
	}
	if err := checkSelections(c); err != nil {
		return nil, err
	}
	if err := checkTargets(c.Targets); err != nil {
		return nil, err
	}
	if err := checkLimits(c.Limits); err != nil {
		return nil, err
	}
	if err := checkWorkers(c.Workers); err != nil {
		return nil, err
	}
	if err := checkPriorities(c.PriorityClasses); err != nil {
		return nil, err
	}
	if err := checkResults(c.Results); err != nil {
		return nil, err
	}
	if err := checkPrometheus(c.Prometheus); err != nil {
		return nil, err
	}
	quiet, err := readQuietHours(c.QuietHours)
	if err != nil {
		return nil, err
	}
	return &Policy{checked: checked{c, quiet}}, nil
}

// Default is the policy of an empty configuration.
func Default() *Policy { return &Policy{} }

// Unread is the policy by which no run begins, as the configuration has not been read.
func Unread() *Policy { return &Policy{badConfig: errors.New("it has not been read yet")} }

// Rules are a policy as it is for one namespace. The zero value allows Services alone,
// and has no limits.
type Rules struct {
	// Targets are where it may send load to.
	Targets Targets
	// Limits are how large a LoadTest may be.
	Limits Limits
	// Workers are what it may ask for its workers' pods.
	Workers Workers
	// Priorities are the classes that order the queue.
	Priorities Priorities

	// Queries are what it may ask of the administrator's Prometheus.
	Queries Queries

	// What holds runs: see Hold.
	stop    *config.Stop
	quiet   []quietHours
	invalid string
}

// For is the policy for a namespace.
func (p *Policy) For(namespace string) Rules {
	return Rules{
		Targets: p.targets(namespace), Limits: p.limits(namespace), Workers: p.workers(namespace), Priorities: p.priorities(namespace), Queries: p.queries(namespace),
		stop: p.stopOf(namespace), quiet: p.quietOf(namespace), invalid: p.invalid(),
	}
}

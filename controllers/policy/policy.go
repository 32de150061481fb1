package policy

import (
	"fmt"
	"path"
	"slices"

	"sigs.k8s.io/yaml"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// Policy is a configuration that was checked. It does not change.
type Policy struct {
	config config.OperatorConfiguration
}

// Load reads a document of YAML. Its error names the field and the way out. An unknown
// field is an error, since it may be a rule that was meant.
func Load(document []byte) (*Policy, error) {
	var c config.OperatorConfiguration
	if err := yaml.UnmarshalStrict(document, &c); err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return New(c)
}

// New checks a configuration.
func New(c config.OperatorConfiguration) (*Policy, error) {
	if c.APIVersion != "" && c.APIVersion != config.APIVersion {
		return nil, fmt.Errorf("apiVersion %q: must be %s", c.APIVersion, config.APIVersion)
	}
	if c.Kind != "" && c.Kind != config.Kind {
		return nil, fmt.Errorf("kind %q: must be %s", c.Kind, config.Kind)
	}
	if err := checkTargets(c.Targets); err != nil {
		return nil, err
	}
	if err := checkLimits(c.Limits); err != nil {
		return nil, err
	}
	return &Policy{config: c}, nil
}

// Default is the policy of an empty configuration.
func Default() *Policy { return &Policy{} }

// Rules are a policy as it is for one namespace. The zero value allows Services alone,
// and knows no limits.
type Rules struct {
	// Targets are where it may send load to.
	Targets Targets
	// Limits are how large a LoadTest may be.
	Limits Limits
}

// For is the policy for a namespace.
func (p *Policy) For(namespace string) Rules {
	return Rules{Targets: p.targets(namespace), Limits: p.limits(namespace)}
}

// selects says whether a rule with these patterns is about a namespace. Without any, it is
// about all.
func selects(patterns []string, namespace string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, namespace)
		return err == nil && ok
	})
}

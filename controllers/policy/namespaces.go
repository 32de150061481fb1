package policy

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// selects says whether a rule with these patterns is about a namespace. Without any, it is
// about all.
func selects(patterns []string, namespace string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, namespace) // New has checked them
		return ok
	})
}

// namespacePattern is what a pattern can be to match the name of a namespace.
var namespacePattern = regexp.MustCompile(`^[a-z0-9*]([-a-z0-9*]{0,61}[a-z0-9*])?$`)

// checkSelections checks the namespaces of every rule.
func checkSelections(c config.OperatorConfiguration) error {
	lists := map[string][]string{}
	for i, r := range c.Targets.Rules {
		lists[fmt.Sprintf("targets.rules[%d]", i)] = r.Namespaces
	}
	for i, r := range c.Limits.Namespaces {
		lists[fmt.Sprintf("limits.namespaces[%d]", i)] = r.Namespaces
	}
	for i, r := range c.PriorityClasses {
		lists[fmt.Sprintf("priorityClasses[%d]", i)] = r.Namespaces
	}
	for i, r := range c.Workers {
		lists[fmt.Sprintf("workers[%d]", i)] = r.Namespaces
	}
	if c.Prometheus != nil {
		for i, q := range c.Prometheus.Queries {
			lists[fmt.Sprintf("prometheus.queries[%d]", i)] = q.Namespaces
		}
	}
	if c.Stop != nil {
		lists["stop"] = c.Stop.Namespaces
	}
	for i, r := range c.QuietHours {
		lists[fmt.Sprintf("quietHours[%d]", i)] = r.Namespaces
	}
	for _, field := range slices.Sorted(maps.Keys(lists)) {
		if err := checkNamespaces(field+".namespaces", lists[field]); err != nil {
			return err
		}
	}
	return nil
}

// checkNamespaces refuses a pattern that can match no namespace.
func checkNamespaces(field string, patterns []string) error {
	for i, p := range patterns {
		if !namespacePattern.MatchString(p) {
			return fmt.Errorf("%s[%d]: %q must be the name of a namespace, with * for any characters", field, i, p)
		}
	}
	return nil
}

package rights

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Grant is a rule that is bound to the account.
type Grant struct {
	// Namespace is where it holds; empty: everywhere.
	Namespace string
	Rule      rbacv1.PolicyRule
}

// Comparison is what came of a comparison.
type Comparison struct {
	Granted, Used int
	// Unused are rights that no request needed, Refused requests that no right covers,
	// and Wildcards rights that name no verb or resource.
	Unused, Refused, Wildcards []string
}

// String is one line.
func (c Comparison) String() string {
	line := fmt.Sprintf("rbac: granted %d, used %d, unused %d, refused %d", c.Granted, c.Used, len(c.Unused), len(c.Refused))
	if len(c.Wildcards) > 0 {
		line += fmt.Sprintf(", wildcards %d", len(c.Wildcards))
	}
	return line
}

// Details has a line for each difference.
func (c Comparison) Details() (lines []string) {
	for _, list := range []struct {
		what string
		of   []string
	}{{"unused", c.Unused}, {"refused", c.Refused}, {"wildcard", c.Wildcards}} {
		for _, one := range list.of {
			lines = append(lines, fmt.Sprintf("rbac: %s: %s", list.what, one))
		}
	}
	return lines
}

// right is one verb on one resource. An empty namespace or name is all of them.
type right struct{ verb, group, resource, namespace, name string }

func (r right) String() string {
	s := strings.TrimSuffix(r.verb+" "+r.resource+"."+r.group, ".")
	if r.name != "" {
		s += " " + r.name
	}
	return s + " in " + cmp.Or(r.namespace, "all namespaces")
}

// covers says whether a request needs no other right.
func (r right) covers(q Request) bool {
	return is(r.verb, q.Verb) && is(r.group, q.Group) && is(r.resource, q.Resource) &&
		(r.namespace == "" || r.namespace == q.Namespace) && (r.name == "" || r.name == q.Name)
}

func is(granted, asked string) bool { return granted == "*" || granted == asked }

// Compare compares what is granted with what was asked for. Paths that are no resources
// are left out: everyone may read what the API has.
func Compare(grants []Grant, requests map[Request]bool) Comparison {
	granted := rightsOf(grants)
	c := Comparison{Granted: len(granted)}
	for _, r := range granted {
		used := false
		for q := range requests {
			used = used || r.covers(q)
		}
		if used {
			c.Used++
		} else {
			c.Unused = append(c.Unused, r.String())
		}
		if slices.Contains([]string{r.verb, r.group, r.resource}, "*") {
			c.Wildcards = append(c.Wildcards, r.String())
		}
	}
	for q := range requests {
		if !slices.ContainsFunc(granted, func(r right) bool { return r.covers(q) }) {
			c.Refused = append(c.Refused, asked(q))
		}
	}
	slices.Sort(c.Refused)
	c.Refused = slices.Compact(c.Refused)
	return c
}

// asked names a request.
func asked(q Request) string {
	s := right{q.Verb, q.Group, q.Resource, q.Namespace, q.Name}.String()
	if !q.Forbidden {
		s += ", allowed by no role of its own"
	}
	return s
}

// rightsOf takes the grants apart, and leaves out what is granted twice.
func rightsOf(grants []Grant) []right {
	all := map[right]bool{}
	for _, g := range grants {
		names := g.Rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range g.Rule.APIGroups {
			for _, resource := range g.Rule.Resources {
				for _, verb := range g.Rule.Verbs {
					for _, name := range names {
						all[right{verb, group, resource, g.Namespace, name}] = true
					}
				}
			}
		}
	}
	list := make([]right, 0, len(all))
	for r := range all {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b right) int { return cmp.Compare(a.String(), b.String()) })
	return list
}

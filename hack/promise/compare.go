package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/runner"
	"sigs.k8s.io/yaml"
)

// policy says what is compatible beside what is so by default: another description, and a value
// more in an enumeration, which clients are told to expect.
var policy = config.Config{
	Validations: []config.ValidationConfig{
		{Name: "description", Enforcement: config.EnforcementPolicyNone},
		{Name: "enum", Enforcement: config.EnforcementPolicyError, Configuration: map[string]any{"additionPolicy": "Allow"}},
	},
	UnhandledEnforcement: config.EnforcementPolicyError,
	Conversion:           config.ConversionPolicyNone,
}

// unhandled is the name of the result of changes that no comparison knows.
const unhandled = "unhandled"

// internal is the field about which nothing is promised.
const internal = "status.internal"

// compare returns the changes of a definition that the promise forbids, each with its field. What
// cannot be judged is left out if the announcement names the field.
func compare(before, now []byte, announcement string) ([]string, error) {
	var old, current apiextensionsv1.CustomResourceDefinition
	for _, read := range []struct {
		from []byte
		to   *apiextensionsv1.CustomResourceDefinition
	}{{before, &old}, {now, &current}} {
		if err := yaml.UnmarshalStrict(read.from, read.to); err != nil {
			return nil, fmt.Errorf("read a definition: %w", err)
		}
	}
	check, err := runner.New(&policy, runner.DefaultRegistry())
	if err != nil {
		return nil, fmt.Errorf("prepare the comparison: %w", err)
	}
	results, kind := check.Run(&old, &current), current.Spec.Names.Kind
	var problems []string
	for _, r := range results.CRDValidation {
		for _, e := range r.Errors {
			problems = append(problems, kind+": "+e)
		}
	}
	for _, version := range slices.Sorted(maps.Keys(results.SameVersionValidation)) {
		fields := results.SameVersionValidation[version]
		for _, path := range slices.Sorted(maps.Keys(fields)) {
			field := strings.TrimPrefix(path, "^.")
			if field == internal {
				continue
			}
			for _, r := range fields[path] {
				switch {
				case len(r.Errors) == 0:
				case r.Name != unhandled:
					problems = append(problems, fmt.Sprintf("%s: %s: %s", kind, field, strings.Join(r.Errors, "; ")))
				case !strings.Contains(announcement, "`"+field+"`"):
					problems = append(problems, fmt.Sprintf("%s: %s: its rules, its pattern or the kind of its list changed, and nothing says whether it accepts less: name `%s` in CHANGELOG.md under Unreleased", kind, field, field))
				}
			}
		}
	}
	return problems, nil
}

// hasReleases reports whether a changelog has a release beside what is unreleased.
func hasReleases(changelog string) bool { return strings.Contains(changelog, "\n## v") }

// unreleased is the part of a changelog about what comes with the next release.
func unreleased(changelog string) string {
	_, after, _ := strings.Cut(changelog, "\n## Unreleased\n")
	part, _, _ := strings.Cut(after, "\n## ")
	return part
}

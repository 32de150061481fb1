package command

import (
	"errors"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
)

// readBaseline reads the LoadTest of --baseline, with which LoadTests are compared that are to run
// on this machine. Those without spec.baseline get one, and those that name a schedule another: a file
// has one run, and no level. It is nil without --baseline, and if there
// is no such file and every LoadTest may run without.
func (c *config) readBaseline(file string, manifests []document.Manifest) (*v1beta1.LoadTest, error) {
	if file == "" {
		return nil, nil
	}
	before, _, err := c.readSaved(file, "")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, c.withoutBaseline(file, manifests)
	}
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	for _, m := range manifests {
		_, isSchedule, _ := unstructured.NestedFieldNoCopy(m.Object, "spec", "baseline", "schedule")
		if _, found, _ := unstructured.NestedFieldNoCopy(m.Object, "spec", "baseline"); found && !isSchedule {
			continue
		}
		unstructured.RemoveNestedField(m.Object, "spec", "baseline", "schedule")
		if err := unstructured.SetNestedField(m.Object, nameUnlike(m, before.Name), "spec", "baseline", "name"); err != nil {
			return nil, fmt.Errorf("LoadTest %s: spec: %w", document.DisplayName(m), err)
		}
	}
	return before, nil
}

// withoutBaseline refuses LoadTests that need a baseline, which does not exist.
func (c *config) withoutBaseline(file string, manifests []document.Manifest) error {
	for _, m := range manifests {
		if optional, _, _ := unstructured.NestedBool(m.Object, "spec", "baseline", "optional"); !optional {
			return fmt.Errorf("--baseline %s: no such file; a first run begins without if LoadTest %s has spec.baseline.optional: true", file, document.DisplayName(m))
		}
	}
	c.warn(fmt.Sprintf("--baseline %s: no such file; nothing is compared, as spec.baseline.optional allows", file))
	return nil
}

// nameUnlike is the name of a baseline. That of the same manifest as it ran before has the name of
// this one, which the API refuses.
func nameUnlike(m document.Manifest, name string) string {
	const longest = 52
	for _, other := range []string{name, "baseline"} {
		if other != "" && len(other) <= longest && other != m.GetName() {
			return other
		}
	}
	return "earlier"
}

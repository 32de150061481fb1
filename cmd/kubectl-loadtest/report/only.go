package report

import (
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Only is the one step that a form of the report is about, which has what that form
// shows: the step of a name or, for "", the only one that has it.
func Only(steps []v1beta1.StepStatus, name, what string, has func(*v1beta1.StepResult) bool) (*v1beta1.StepStatus, error) {
	var found []*v1beta1.StepStatus
	var names []string
	for i := range steps {
		step := &steps[i]
		if step.Result == nil || !has(step.Result) {
			continue
		}
		names = append(names, fmt.Sprintf("%q", step.Name))
		if name == "" || name == step.Name {
			found = append(found, step)
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("no step has %s yet", what)
	case len(found) == 0:
		return nil, fmt.Errorf("--step %q: the steps with %s are %s", name, what, strings.Join(names, ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("%d steps have %s, and this form of the report holds one: choose with --step %s", len(found), what, strings.Join(names, ", "))
	}
	return found[0], nil
}

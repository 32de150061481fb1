package verdict

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// wentOn says of a run that goes on after the loss of workers how much of the plan of the
// steps that ran was measured; it is empty of any other run.
func (r run) wentOn() string {
	if r.spec.Worker == nil || r.spec.Worker.OnLoss != v1beta1.LossContinue || r.status.Workers.Lost == 0 {
		return ""
	}
	var planned, due int64
	for _, step := range r.ran() {
		switch {
		case step.Load.IsPause():
			continue
		case step.Load.Requests == 0:
			return ", and the run went on with the others"
		case step.Result != nil:
			due += step.Result.Due
		}
		planned += step.Load.Requests
	}
	return fmt.Sprintf(", and the run went on with the others: %s of the planned requests were measured", text.Percent(due, planned))
}

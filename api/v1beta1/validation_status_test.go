package v1beta1_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const (
	badRate  = `must be a number from 0.000001 to 999999999, of up to 6 decimals: 12, or in quotes "0.5"`
	badThink = `must have two times from 0s to 1h, of which max is from 1ms and not below min, such as {min: 1s, max: 3s}`
)

// plannedLoads are values of a step's load in status: a valid one, an invalid one, and its
// refusal.
var plannedLoads = map[string]struct{ valid, invalid, want string }{
	"ratePerUser": {`"0.5"`, `"0"`, `status.steps[0].load.ratePerUser: Invalid value: "0": ` + badRate},
	"rate":        {`"0.5"`, `"0"`, `status.steps[0].load.rate: Invalid value: "0": ` + badRate},
	"rampTo":      {`"0.5"`, `"0"`, `status.steps[0].load.rampTo: Invalid value: "0": ` + badRate},
	"speed":       {`"0.5"`, `"0"`, `status.steps[0].load.speed: Invalid value: "0": ` + badRate},
	"think":       {`{"min": "1s", "max": "3s"}`, `{"min": "3s", "max": "1s"}`, `status.steps[0].load.think: Invalid value: ` + badThink},
}

func TestPlannedLoadsAreValidated(t *testing.T) {
	c := strictClient(t)
	object := loadTest(t, apiserver.Namespace(t), "{}")
	must.Succeed(t, c.Create(t.Context(), object))
	for field, row := range plannedLoads {
		patch := func(value string) error {
			status := fmt.Sprintf(`{"status": {"steps": [{"name": "a", "rung": 1, "state": "Pending", "load": {%q: %s}}]}}`, field, value)
			return c.Status().Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(status)), client.DryRunAll)
		}
		must.Report(t, fmt.Sprintf("a %s of %s is refused", field, row.valid), patch(row.valid))
		same.As(t, fmt.Sprintf("refusals of a %s of %s", field, row.invalid), []string{row.want}, refusals(t, patch(row.invalid)))
	}
}

func TestEmptyStatusPartsAreLeftOut(t *testing.T) {
	for want, test := range map[string]v1beta1.LoadTest{
		"":                       {},
		`{"phase":"Finished"}`:   {Status: v1beta1.LoadTestStatus{Phase: v1beta1.PhaseFinished}},
		`{"workers":{"lost":1}}`: {Status: v1beta1.LoadTestStatus{Workers: v1beta1.WorkerCounts{Lost: 1}}},
	} {
		raw, err := json.Marshal(test)
		must.Succeed(t, err)
		var got struct{ Status json.RawMessage }
		must.Succeed(t, json.Unmarshal(raw, &got))
		if string(got.Status) != want {
			t.Errorf("status is written as %q, want %q", got.Status, want)
		}
	}
}

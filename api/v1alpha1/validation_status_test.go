package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

const badRate = `must be a number greater than 0: a whole one such as 12, or a decimal in quotes such as "0.5"`

// plannedRates are the rates of a step's load in status, each with the refusal of one
// that is no rate.
var plannedRates = map[string]string{
	"ratePerUser": `status.steps[0].load.ratePerUser: Invalid value: "0": ` + badRate,
	"rate":        `status.steps[0].load.rate: Invalid value: "0": ` + badRate,
	"rampTo":      `status.steps[0].load.rampTo: Invalid value: "0": ` + badRate,
}

func TestPlannedRatesAreValidated(t *testing.T) {
	c := strictClient(t)
	object := loadTest(t, apiserver.Namespace(t), "{}")
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	for field, want := range plannedRates {
		patch := func(rate string) error {
			status := fmt.Sprintf(`{"status": {"steps": [{"name": "a", "rung": 1, "state": "Pending", "load": {%q: %q}}]}}`, field, rate)
			return c.Status().Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(status)), client.DryRunAll)
		}
		if err := patch("0.5"); err != nil {
			t.Errorf("a %s of 0.5 is refused: %v", field, err)
		}
		if diff := cmp.Diff([]string{want}, refusals(t, patch("0"))); diff != "" {
			t.Errorf("refusals of a %s of 0 (-want +got):\n%s", field, diff)
		}
	}
}

func TestEmptyStatusPartsAreLeftOut(t *testing.T) {
	for want, test := range map[string]v1alpha1.LoadTest{
		"":                       {},
		`{"phase":"Ended"}`:      {Status: v1alpha1.LoadTestStatus{Phase: v1alpha1.PhaseEnded}},
		`{"workers":{"lost":1}}`: {Status: v1alpha1.LoadTestStatus{Workers: v1alpha1.WorkerCounts{Lost: 1}}},
	} {
		raw, err := json.Marshal(test)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Status json.RawMessage }
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if string(got.Status) != want {
			t.Errorf("status is written as %q, want %q", got.Status, want)
		}
	}
}

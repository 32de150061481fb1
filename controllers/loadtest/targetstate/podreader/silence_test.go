package podreader

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

// The end of a step waits for what is read of the target.
func TestSilentAPIServerHoldsUpTheEndOfAStepForTwoSeconds(t *testing.T) {
	lt := &v1beta1.LoadTest{}
	lt.Spec.Target.Service = &v1beta1.ServiceReference{Name: "shortener"}
	lt.Status.Steps = make([]v1beta1.StepStatus, 1)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		seen := (&Reader{API: apiserver.Silent{}}).Read(t.Context(), lt, targetstate.Look{}, began)
		if took := time.Since(began); took != 2*time.Second || !strings.HasSuffix(seen.Problem, "get Service: context deadline exceeded") {
			t.Errorf("after %s: %+v", took, seen)
		}
	})
}

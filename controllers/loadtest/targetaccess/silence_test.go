package targetaccess

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

// The begin of a run waits for where its target leads to.
func TestSilentAPIServerHoldsUpTheBeginOfARunForFiveSeconds(t *testing.T) {
	lt := &v1beta1.LoadTest{}
	lt.Spec.Target.URL, lt.Spec.Target.Service = "http://shortener", &v1beta1.ServiceReference{Name: "shortener"}
	lt.Status.Steps = make([]v1beta1.StepStatus, 1)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := (&Checker{Reader: apiserver.Silent{}}).Observe(t.Context(), lt, policy.Default().For("").Targets, nil, began)
		if took := time.Since(began); took != 5*time.Second || err == nil {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

package loadtest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// silent is an API server that does not answer.
type silent struct{ client.Reader }

func (silent) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	<-ctx.Done()
	return ctx.Err()
}

// The end of a step waits for what is read of the target, and its begin for where that leads to.
func TestSilentAPIServerHoldsUpARunForSeconds(t *testing.T) {
	lt := &v1alpha1.LoadTest{}
	lt.Spec.Target.URL, lt.Spec.Target.Service = "http://shortener", &v1alpha1.ServiceReference{Name: "shortener"}
	lt.Status.Steps = make([]v1alpha1.StepStatus, 1)
	r := &Reconciler{Uncached: silent{}, LooksAtTargets: true, ChecksTargets: true}
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), &note{}
		r.look(t.Context(), lt, &lifecycle.Look{}, n, began)
		if took := time.Since(began); took != 2*time.Second || !strings.HasSuffix(n.looked.Problem, "get Service: context deadline exceeded") {
			t.Errorf("after %s: %+v", took, n.looked)
		}
		began = time.Now()
		_, err := r.observeAccess(t.Context(), lt, policy.Default().For("").Targets, n, began)
		if took := time.Since(began); took != 5*time.Second || err == nil {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

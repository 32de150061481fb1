package loadtest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// silent is an API server that never answers.
type silent struct{ client.Reader }

func (silent) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	<-ctx.Done()
	return ctx.Err()
}

func (s silent) List(ctx context.Context, _ client.ObjectList, _ ...client.ListOption) error {
	return s.Get(ctx, client.ObjectKey{}, nil)
}

// The end of a step waits for what is read of its target, and a run for where it leads to: an
// API server that does not answer holds up neither for longer than a few seconds.
func TestSilentAPIServerHoldsNoPassUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Reconciler{Uncached: silent{}, LooksAtTargets: true, ChecksTargets: true}
		lt := &v1alpha1.LoadTest{Spec: v1alpha1.LoadTestSpec{Target: v1alpha1.Target{Service: &v1alpha1.ServiceReference{Name: "shop", Port: ptr.To(intstr.FromInt32(8080))}}}}
		lt.Namespace, lt.Name = "team", "checkout"
		lt.Status.Steps = []v1alpha1.StepStatus{{Name: "one"}}
		var seen note
		begun := time.Now()
		r.look(t.Context(), lt, &lifecycle.Look{}, &seen, begun)
		if took := time.Since(begun); took != lookTimeout || !strings.Contains(seen.looked.Problem, context.DeadlineExceeded.Error()) {
			t.Errorf("what is behind the target was read for %v: %s", took, seen.looked.Problem)
		}
		begun = time.Now()
		_, err := r.observeAccess(t.Context(), lt, policy.Default().For("team").Targets, &seen, begun)
		if took := time.Since(begun); took != accessTimeout || err == nil {
			t.Errorf("where the target leads to was read for %v: %v", took, err)
		}
	})
}

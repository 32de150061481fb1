// The race detector looks at the tests of this file, too: passes over several LoadTests at once.

package loadtest_test

import (
	"testing"

	"golang.org/x/sync/errgroup"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What passes over several LoadTests share is guarded; the race detector says so.
func TestPassesOverSeveralLoadTestsAtOnce(t *testing.T) {
	t.Parallel()
	r := newFixture(t, apiserver.Client(t))
	r.workers.absent = true
	var tests []*v1beta1.LoadTest
	for range 8 {
		tests = append(tests, hello(t))
	}
	var group errgroup.Group
	for _, lt := range tests {
		group.Go(func() error {
			for range 4 {
				if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(lt)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must.Succeed(t, group.Wait())
	for _, lt := range tests {
		if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(lt), lt); err != nil || lt.Status.Phase != v1beta1.PhaseStarting {
			t.Errorf("%s is %s, %v; want Starting", client.ObjectKeyFromObject(lt), lt.Status.Phase, err)
		}
	}
}

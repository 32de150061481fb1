package loadtest

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/firstread"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The baseline of a run that has begun may be among what is not in the cache yet.
func TestBaselineIsReadPastTheCacheWhileItLacksMuch(t *testing.T) {
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{Baseline: &v1beta1.Baseline{Name: "before"}}}
	r := &Reconciler{Client: empty{}, Uncached: stored{}}
	for want, reading := range map[string]*firstread.Reading{"before": firstread.New(1), "": nil} {
		r.Reading = reading
		got, err := r.baseline(t.Context(), lt)
		must.Succeed(t, err)
		if (got != nil) != (want != "") || got != nil && got.Name != want {
			t.Errorf("complete %t: the baseline is %v, want %q", reading.Complete(), got, want)
		}
	}
}

// empty is a cache without objects.
type empty struct{ client.Client }

func (empty) Get(_ context.Context, name client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(v1beta1.GroupVersion.WithResource("loadtests").GroupResource(), name.Name)
}

// stored has each object that is asked for.
type stored struct{ client.Reader }

func (stored) Get(_ context.Context, name client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	o.SetName(name.Name)
	return nil
}

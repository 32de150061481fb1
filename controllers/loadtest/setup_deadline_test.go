package loadtest_test

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The deadline bounds how long a setup sends; it was judged when the run began.
func TestTheDeadlineOfASetupDoesNotGrowBeyondTheLimit(t *testing.T) {
	t.Parallel()
	r := crowded(t, "duration: 1h", "") // the setup takes long
	first, c := hello(t), apiserver.Client(t)
	lt := &v1beta1.LoadTest{Spec: *first.Spec.DeepCopy()}
	lt.Namespace, lt.Name = first.Namespace, "fills"
	lt.Spec.StartDeadlineSeconds = ptr.To[int64](1800)
	lt.Spec.Setup = &v1beta1.Setup{Fill: &v1beta1.Fill{Request: lt.Spec.Requests[0].Name, Count: 10_000_000}}
	must.Succeed(t, c.Create(t.Context(), lt))
	r.mustPass(lt)
	if lt.Status.StartTime == nil {
		t.Fatalf("%+v", lt.Status.Conditions)
	}
	lt.Spec.StartDeadlineSeconds = ptr.To[int64](86_400)
	must.Succeed(t, c.Update(t.Context(), lt))
	r.after(3 * time.Hour)
	r.mustPass(lt)
	r.mustPass(lt)
	if lt.Status.Verdict == "" {
		t.Errorf("the setup goes on for 3 h (phase %s), where a run may take 1 h", lt.Status.Phase)
	}
}

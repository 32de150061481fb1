package loadtestschedule_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A run beyond the limits of the history stays until its results are kept elsewhere.
func TestHistoryWaitsForResults(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	f.policy = load(t, "results: {volume: {}, wait: 168h}")
	s := f.hourly("nightly", func(s *v1beta1.LoadTestScheduleSpec) { s.FailedRunsHistoryLimit = new(int32(0)) })
	f.settle(s)
	lt := f.one()
	f.finish(lt, v1beta1.VerdictFailed, time.Millisecond)
	f.after(time.Hour)
	f.settle(s)
	isThere := func() bool {
		return slices.ContainsFunc(f.runs(), func(r v1beta1.LoadTest) bool { return r.Name == lt.Name })
	}
	if !isThere() {
		t.Fatal("it was deleted before its results were kept")
	}
	meta.SetStatusCondition(&lt.Status.Conditions, metav1.Condition{Type: v1beta1.ConditionArchived, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonArchived})
	must.Succeed(t, f.client.Status().Update(t.Context(), lt))
	f.settle(s)
	if isThere() {
		t.Error("it is there although its results are kept")
	}
}

package loadtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A step begins further ahead when it takes long until a status is read back.
func TestSlowReadBackPutsAStepFurtherAhead(t *testing.T) {
	t.Parallel()
	r, lt := newFixture(t, apiserver.Client(t)), hello(t)
	r.mustPass(lt)
	r.after(1500 * time.Millisecond)
	r.mustPass(lt)
	bringPods(t, lt)
	r.mustPass(lt)
	same.As(t, "how far ahead the step begins", 4500*time.Millisecond, lt.Status.Steps[0].StartTime.Sub(r.clock.Now()))
}

// What a run waits for is written as often as the size of its object allows, and its
// bytes are counted.
func TestWritesFollowTheSizeOfTheObject(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r, lt := newFixture(t, c), hello(t)
	registry := prometheus.NewRegistry()
	r.Metrics = loadtest.NewMetrics(registry)
	change(t, lt, func(s *v1beta1.LoadTestSpec) {
		for i := range 3 {
			s.Requests = append(s.Requests, v1beta1.Request{Name: fmt.Sprint(i), HTTP: &v1beta1.HTTPRequest{Path: "/", Method: "POST", Body: strings.Repeat("x", 65_536)}})
		}
	})
	r.workers.absent = true
	r.mustPass(lt)
	r.mustPass(lt)
	r.mustPass(lt)
	job := &batchv1.Job{}
	must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(lt), job))
	pod := apiserver.Pod(t, c, job, 0)
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "full"}}
	must.Succeed(t, c.Status().Update(t.Context(), pod))
	again := r.mustPass(lt).RequeueAfter
	if got := workersReady(lt).Reason; got != v1beta1.ReasonWaiting || again < 3900*time.Millisecond || again > 4500*time.Millisecond {
		t.Errorf("WorkersReady is %s, again after %v; want it as it was for the 4 s that 200 KB take", got, again)
	}
	r.after(again)
	r.mustPass(lt)
	if got := workersReady(lt).Reason; got != v1beta1.ReasonUnschedulable {
		t.Errorf("WorkersReady is %s after %v, want Unschedulable", got, again)
	}
	families, err := registry.Gather()
	must.Succeed(t, err)
	if n, err := testutil.GatherAndCount(registry, "loadtest_status_bytes_total"); err != nil || n != 1 {
		t.Fatalf("%d metrics of bytes, %v", n, err)
	}
	for _, f := range families {
		if value := f.GetMetric()[0].GetCounter().GetValue(); f.GetName() == "loadtest_status_bytes_total" && (value < 3*196_608 || value > 3*220_000) {
			t.Errorf("%.0f bytes were written, want those of three writes of 200 KB", value)
		}
	}
}

package loadtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// kstatusIs holds a LoadTest, as the API server returns it, to what Flux makes of it.
func kstatusIs(t *testing.T, when string, lt *v1beta1.LoadTest, want status.Status) {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("LoadTest"))
	must.Succeed(t, apiserver.Client(t).Get(t.Context(), client.ObjectKeyFromObject(lt), object))
	got, err := status.Compute(object)
	must.Succeed(t, err)
	if got.Status != want {
		t.Errorf("%s kstatus is %s (%s), want %s; status %v", when, got.Status, got.Message, want, object.Object["status"])
	}
}

// waits types the two commands of a pipeline, each of which looks once, and holds them to
// whether their conditions are met.
func waits(t *testing.T, when string, lt *v1beta1.LoadTest, finished, passed bool) {
	t.Helper()
	kubectl := apiserver.Kubectl(t)
	for condition, want := range map[string]bool{v1beta1.ConditionFinished: finished, v1beta1.ConditionPassed: passed} {
		output, err := kubectl("", "wait", "--namespace", lt.Namespace, "--for=condition="+condition, "loadtest/"+lt.Name, "--timeout=0")
		said := fmt.Sprintf("loadtest.loadtest.dev/%s condition met", lt.Name)
		if !want {
			said = fmt.Sprintf("error: condition not met for loadtests/%s", lt.Name)
		}
		if (err == nil) != want || strings.TrimSpace(output) != said {
			t.Errorf("%s kubectl wait --for=condition=%s says %q (%v), want %q", when, condition, output, err, said)
		}
	}
}

func TestKstatusIsInProgressUntilARunHasFinished(t *testing.T) {
	t.Parallel()
	r, lt := newFixture(t, apiserver.Client(t)), hello(t)
	kstatusIs(t, "before the operator has seen it", lt, status.InProgressStatus)
	waits(t, "before the operator has seen it", lt, false, false)
	change(t, lt, func(s *v1beta1.LoadTestSpec) { s.Suspend = true })
	r.mustPass(lt)
	kstatusIs(t, "suspended", lt, status.InProgressStatus)
	change(t, lt, func(s *v1beta1.LoadTestSpec) { s.Suspend = false })
	r.mustPass(lt)
	kstatusIs(t, "starting", lt, status.InProgressStatus)
	r.mustPass(lt)
	bringPods(t, lt)
	r.mustPass(lt)
	kstatusIs(t, "running", lt, status.InProgressStatus)
	waits(t, "while it runs", lt, false, false)
	r.mustPass(lt)
	r.after(2 * time.Second)
	r.mustPass(lt)
	kstatusIs(t, "passed", lt, status.CurrentStatus)
	waits(t, "once it has passed", lt, true, true)
	change(t, lt, func(s *v1beta1.LoadTestSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](900) })
	kstatusIs(t, "passed, with a change that the operator has not seen", lt, status.InProgressStatus)
	r.mustPass(lt)
	kstatusIs(t, "passed, with a change that the operator has seen", lt, status.CurrentStatus)
}

func TestKstatusIsFailedAfterEveryOtherVerdict(t *testing.T) {
	t.Parallel()
	for want, edit := range map[v1beta1.Verdict]func(*fixture, *v1beta1.LoadTestSpec){
		v1beta1.VerdictFailed:       func(_ *fixture, s *v1beta1.LoadTestSpec) { s.Thresholds[0].Max = ptr.To(intstr.FromString("1ms")) },
		v1beta1.VerdictInconclusive: func(_ *fixture, s *v1beta1.LoadTestSpec) { s.Thresholds[0].Metric = "p99.99" },
		v1beta1.VerdictCanceled:     func(_ *fixture, s *v1beta1.LoadTestSpec) { s.Terminate = true },
		v1beta1.VerdictError: func(r *fixture, s *v1beta1.LoadTestSpec) {
			r.workers.absent, s.StartDeadlineSeconds = true, ptr.To[int64](1)
		},
	} {
		t.Run(string(want), func(t *testing.T) {
			r, lt := newFixture(t, apiserver.Client(t)), hello(t)
			change(t, lt, func(s *v1beta1.LoadTestSpec) { edit(r, s) })
			for pass := range 5 {
				r.mustPass(lt)
				if pass == 1 && lt.Status.Verdict == "" {
					bringPods(t, lt)
				}
				r.after(2 * time.Second)
			}
			if lt.Status.Verdict != want {
				t.Fatalf("the verdict is %q, want %s", lt.Status.Verdict, want)
			}
			kstatusIs(t, "in the end", lt, status.FailedStatus)
			waits(t, "in the end", lt, true, false)
		})
	}
}

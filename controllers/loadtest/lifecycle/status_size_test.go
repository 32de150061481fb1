package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// crowded has that many steps and types of requests, and bodies of that length.
func crowded(steps, types, body int) *v1beta1.LoadTest {
	second := &metav1.Duration{Duration: time.Second}
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{Target: v1beta1.Target{Service: &v1beta1.ServiceReference{Name: "shortener"}}}}
	for i := range types {
		lt.Spec.Requests = append(lt.Spec.Requests, v1beta1.Request{Name: fmt.Sprint(i), Type: fmt.Sprint("type", i), HTTP: &v1beta1.HTTPRequest{Body: strings.Repeat("x", body)}})
	}
	for i := range steps {
		lt.Spec.Steps = append(lt.Spec.Steps, v1beta1.Step{Name: fmt.Sprint(i), Users: ptr.To[int32](1), Duration: second})
	}
	return lt
}

func TestMoreThanTheStoreTakes(t *testing.T) {
	const way = "use fewer steps, repetitions, types or journeys, or bodyFrom for long bodies."
	tests := map[string]struct {
		lt   *v1beta1.LoadTest
		want string
	}{
		"a small one":                {crowded(6, 2, 1_000), ""},
		"the most steps of one type": {crowded(128, 1, 0), ""},
		"the most types":             {crowded(30, 32, 0), ""},
		"the most steps and many types": {crowded(128, 32, 0),
			"spec: the results of load steps x types of request (128 x 32) take up to 4756 KiB, " +
				"and the spec and the metadata 6 KiB; a LoadTest can hold 1200 KiB: " + way},
		"long bodies": {crowded(1, 19, 65_536),
			"spec: the results of load steps x types of request (1 x 19) take up to 44 KiB, " +
				"and the spec and the metadata 1217 KiB; a LoadTest can hold 1200 KiB: " + way},
		"long annotations": {but(crowded(30, 32, 0), func(lt *v1beta1.LoadTest) { lt.Annotations = map[string]string{"a": strings.Repeat("x", 250_000)} }),
			"spec: the results of load steps x types of request (30 x 32) take up to 1130 KiB, " +
				"and the spec and the metadata 246 KiB; a LoadTest can hold 1200 KiB: " + way},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if c := v1beta1.NotCarriedOut(lifecycle.Decide(tc.lt, policy.Rules{}, lifecycle.Observed{}, began).Status.Conditions); c != nil {
				got = c.Message
			}
			same.As(t, "refusal", tc.want, got)
		})
	}
}

func but(lt *v1beta1.LoadTest, edit func(*v1beta1.LoadTest)) *v1beta1.LoadTest {
	edit(lt)
	return lt
}

// Requests of one type are one result; what the API server notes of who manages
// what is not counted, as the operator does not see it; neither is the status, of
// which the same room is left from the beginning to the end.
func TestRoomIgnoresManagedFieldsAndStatus(t *testing.T) {
	lt := crowded(3, 1, 0)
	lt.Spec.Steps = append(lt.Spec.Steps, v1beta1.Step{Name: "rest", Pause: &metav1.Duration{Duration: time.Second}})
	steps := plan.Steps(&lt.Spec)
	room := lifecycle.Room(lt, steps)
	lt.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	lt.Status = v1beta1.LoadTestStatus{Steps: make([]v1beta1.StepStatus, 4), Verdict: v1beta1.VerdictPassed}
	same.As(t, "room in bytes", room, lifecycle.Room(lt, steps))
	lt.Spec.Requests = append(lt.Spec.Requests, lt.Spec.Requests[0])
	if got := room - lifecycle.Room(lt, steps); got > 100 {
		t.Errorf("a second request of the type takes %d bytes, want those of the spec only", got)
	}
	lt.Spec.Requests[1].Type = "another"
	if got := room - lifecycle.Room(lt, steps); got < 3*900 {
		t.Errorf("a second type takes %d bytes, want what it takes in 3 steps", got)
	}
	room = lifecycle.Room(lt, steps)
	lt.Spec.Requests = append(lt.Spec.Requests, lt.Spec.Requests[0])
	if got := room - lifecycle.Room(lt, steps); got > 100 {
		t.Errorf("a request of the first type, after the second, takes %d bytes, want those of the spec only", got)
	}
}

// What is planned of a step stands in the status as well.
func TestRoomCountsThePlan(t *testing.T) {
	lt := crowded(1, 1, 0)
	short := plan.Steps(&lt.Spec)
	long := plan.Steps(&lt.Spec)
	long[0].Load.RatePerUser, long[0].Load.Requests = ptr.To(v1beta1.NewDecimal("0.123456789")), 1_234_567_890
	want := len(`"ratePerUser":"0.123456789","requests":1234567890,`)
	same.As(t, "bytes that a longer plan takes more", want, lifecycle.Room(lt, short)-lifecycle.Room(lt, long))
}

// How far the repetitions of a step differ is said once, by the name that it has in the
// first.
func TestRoomCountsTheSpreadOfRepetitions(t *testing.T) {
	lt := crowded(1, 1, 0)
	lt.Spec.Repetitions, lt.Spec.Steps[0].Name = 2, strings.Repeat("x", 63)
	steps := plan.Steps(&lt.Spec)
	for i := range steps {
		steps[i].Name = lt.Spec.Steps[0].Name
	}
	long := metav1.Duration{Duration: 59*time.Minute + 59*time.Second + 999999*time.Microsecond}
	times := &v1beta1.DurationSpread{Min: long, Median: long, Max: long}
	figures := &v1beta1.NumberSpread{Min: "1234567890.1", Median: "1234567890.1", Max: "1234567890.1"}
	spread, err := json.Marshal(v1beta1.SpreadStatus{
		Name: steps[0].Name, Repetitions: 2, Throughput: figures, Goodput: figures, FailureRate: figures, P50: times, P95: times, P99: times,
	})
	must.Succeed(t, err)
	if got := lifecycle.Room(lt, steps[1:]) - lifecycle.Room(lt, steps[:1]); got < len(spread) {
		t.Errorf("a step of the first repetition takes %d bytes more than one of the second, want the %d of its spread", got, len(spread))
	}
}

// A run is accepted if what its status must say just fits.
func TestNoRoomForHistogramsIsRoomEnough(t *testing.T) {
	lt := crowded(2, 2, 0)
	annotated := func(n int) *v1beta1.LoadTest {
		lt.Annotations = map[string]string{"a": strings.Repeat("x", n)}
		return lt
	}
	most := lifecycle.Room(annotated(1), plan.Steps(&lt.Spec)) + 1
	if refused(annotated(most)) {
		t.Error("a run that just fits is refused")
	}
	if !refused(annotated(most + 1)) {
		t.Error("a run that is too large by a byte is accepted")
	}
}

func BenchmarkRoom(b *testing.B) {
	for name, lt := range map[string]*v1beta1.LoadTest{"small": crowded(6, 2, 1_000), "most": crowded(128, 4, 65_536), "large": crowded(2, 15, 65_536)} {
		b.Run(name, func(b *testing.B) {
			steps := plan.Steps(&lt.Spec)
			for b.Loop() {
				lifecycle.Room(lt, steps)
			}
		})
	}
}

package loadtest

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The words of the Job controller, without what is another name at each attempt.
func TestRefusal(t *testing.T) {
	for name, tc := range map[string]struct{ note, want string }{
		"quota": {`Error creating: pods "hello-0-x7k2p" is forbidden: exceeded quota: tests, requested: pods=1, used: pods=2, limited: pods=2`,
			"exceeded quota: tests, requested: pods=1, used: pods=2, limited: pods=2"},
		"pod security": {`Error creating: pods "hello-0-x7k2p" is forbidden: violates PodSecurity "restricted:latest": hostNetwork=true`,
			`violates PodSecurity "restricted:latest": hostNetwork=true`},
		"limit range": {`Error creating: pods "hello-0-x7k2p" is forbidden: maximum memory usage per Container is 64Mi, but limit is 1Gi`,
			"maximum memory usage per Container is 64Mi, but limit is 1Gi"},
		"webhook":  {`Error creating: admission webhook "pods.example.com" denied the request: no`, `admission webhook "pods.example.com" denied the request: no`},
		"invalid":  {`Error creating: Pod "hello-0-x7k2p" is invalid: spec.priority: Forbidden`, "spec.priority: Forbidden"},
		"anything": {"no\x1b[2J more", "no[2J more"}, // anyone who may create events can forge one
	} {
		t.Run(name, func(t *testing.T) { same.As(t, "refusal", tc.want, refusal([]eventsv1.Event{{Note: tc.note}})) })
	}
}

func TestTheLatestRefusalCounts(t *testing.T) {
	at := func(minutes int) time.Time { return time.Date(2026, 11, 20, 10, minutes, 0, 0, time.UTC) }
	first := eventsv1.Event{Note: "first", EventTime: metav1.NewMicroTime(at(1))}
	old := eventsv1.Event{Note: "counted", DeprecatedLastTimestamp: metav1.NewTime(at(3))}
	series := eventsv1.Event{Note: "series", EventTime: metav1.NewMicroTime(at(2)), Series: &eventsv1.EventSeries{LastObservedTime: metav1.NewMicroTime(at(5))}}
	for name, tc := range map[string]struct {
		events []eventsv1.Event
		want   string
	}{
		"none":    {nil, ""},
		"one":     {[]eventsv1.Event{first}, "first"},
		"counted": {[]eventsv1.Event{old, first}, "counted"},
		"said in three ways": {[]eventsv1.Event{
			{
				Note: "latest", EventTime: metav1.NewMicroTime(at(4)), DeprecatedLastTimestamp: metav1.NewTime(at(1)),
				Series: &eventsv1.EventSeries{LastObservedTime: metav1.NewMicroTime(at(2))},
			}, old,
		}, "latest"},
		"a series": {[]eventsv1.Event{first, series, old}, "series"},
	} {
		t.Run(name, func(t *testing.T) { same.As(t, "refusal", tc.want, refusal(tc.events)) })
	}
}

// Pods that still come are waited for, each for as long.
func TestLastCreated(t *testing.T) {
	at := func(minutes int) metav1.ObjectMeta {
		return metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(time.Date(2026, 11, 20, 10, minutes, 0, 0, time.UTC))}
	}
	job := &batchv1.Job{ObjectMeta: at(1)}
	same.As(t, "minute of the Job, without a pod", 1, lastCreated(job, nil).Minute())
	same.As(t, "minute of the second pod", 4, lastCreated(job, []corev1.Pod{{ObjectMeta: at(2)}, {ObjectMeta: at(4)}, {ObjectMeta: at(3)}}).Minute())
}

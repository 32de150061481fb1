package loadtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// refuse says what the Job controller says of a pod that it cannot create.
func refuse(t *testing.T, c client.Client, job *batchv1.Job, name, message string) {
	t.Helper()
	e := &corev1.Event{
		InvolvedObject: corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID},
		Reason:         "FailedCreate", Type: corev1.EventTypeWarning, Source: corev1.EventSource{Component: "job-controller"},
		Message: message, Count: 1, FirstTimestamp: job.CreationTimestamp, LastTimestamp: job.CreationTimestamp,
	}
	e.Namespace, e.Name = job.Namespace, name
	must.Succeed(t, c.Create(t.Context(), e))
}

// looks counts how often a reader lists events.
type looks struct {
	client.Reader
	n   int
	err error
}

func (l *looks) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, ok := list.(*eventsv1.EventList); ok {
		l.n++
	}
	return errors.Join(l.err, l.Reader.List(ctx, list, opts...))
}

// stuck is a run whose Job is there, for long enough to be asked why its pods are
// not.
func stuck(t *testing.T, c client.Client) (*fixture, *looks, *v1beta1.LoadTest, *batchv1.Job) {
	t.Helper()
	r, lt := newFixture(t, apiserver.Client(t)), hello(t)
	l := &looks{Reader: unhurried{c}}
	r.workers.absent = true
	r.readPastCache(l)
	r.clock.SetTime(lt.CreationTimestamp.Time)
	r.mustPass(lt)
	r.mustPass(lt)
	job := &batchv1.Job{}
	must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(lt), job))
	r.clock.SetTime(job.CreationTimestamp.Add(lifecycle.PodsExpected - time.Millisecond))
	r.mustPass(lt)
	if l.n != 0 {
		t.Fatalf("events were read %d times before the pods were expected", l.n)
	}
	r.clock.SetTime(job.CreationTimestamp.Add(lifecycle.PodsExpected))
	return r, l, lt, job
}

func workersReady(lt *v1beta1.LoadTest) metav1.Condition {
	if c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionWorkersReady); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// A wait says why there is no pod, until there is one.
func TestPodsThatCannotBeCreated(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r, l, lt, job := stuck(t, c)
	other := job.DeepCopy()
	other.UID = "another-of-that-name"
	refuse(t, c, other, "other", "Error creating: of another Job")
	if result := r.mustPass(lt); workersReady(lt).Reason != v1beta1.ReasonWaiting || result.RequeueAfter != lifecycle.PodsExpected {
		t.Fatalf("nothing is known: %+v, again after %v", workersReady(lt), result.RequeueAfter)
	}

	refuse(t, c, job, "ours", `Error creating: pods "hello-0-x7k2p" is forbidden: exceeded quota: tests, requested: pods=1, used: pods=2, limited: pods=2`)
	r.mustPass(lt)
	want := "2 of 2 workers: the pod cannot be created: exceeded quota: tests, requested: pods=1, used: pods=2, limited: pods=2."
	if got := workersReady(lt); got.Reason != v1beta1.ReasonCreateRefused || !strings.HasPrefix(got.Message, want) {
		t.Fatalf("WorkersReady is %s: %s\nwant %s", got.Reason, got.Message, want)
	}

	pod := apiserver.Pod(t, c, job, 0)
	r.clock.SetTime(pod.CreationTimestamp.Add(lifecycle.PodsExpected + time.Second)) // a message is written once a second
	r.mustPass(lt)
	if got := workersReady(lt); !strings.HasPrefix(got.Message, "1 of 2 workers: the pod cannot be created: ") {
		t.Errorf("with one of two pods: WorkersReady is %+v", got)
	}

	apiserver.Pod(t, c, job, 1)
	before := l.n
	r.after(time.Second)
	r.mustPass(lt)
	if got := workersReady(lt); got.Reason != v1beta1.ReasonWaiting || l.n != before {
		t.Errorf("with all pods: WorkersReady is %+v; events were read %d times more", got, l.n-before)
	}
}

// An operator that may not read events runs tests all the same; another failure
// is tried again.
func TestEventsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	r, l, lt, _ := stuck(t, apiserver.Client(t))
	l.err = apierrors.NewForbidden(eventsv1.Resource("events"), "", errors.New("no rule"))
	r.mustPass(lt)
	l.err = errors.New("connection refused")
	if _, err := r.pass(lt); err == nil || !strings.HasPrefix(err.Error(), "list events of the Job: ") {
		t.Errorf("got %v, want that events cannot be listed", err)
	}
}

package identity_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/identity"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// token asks the API server for a token as the kubelet does; pod may be nil.
func token(t *testing.T, c client.Client, namespace, audience string, pod *corev1.Pod) string {
	t.Helper()
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = namespace, "default"
	if err := c.Create(t.Context(), account.DeepCopy()); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}
	if pod != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID}
	}
	must.Succeed(t, c.SubResource("token").Create(t.Context(), account, request))
	return request.Status.Token
}

// withWorker is a LoadTest with its Job and worker 1's pod, as stored.
func withWorker(t *testing.T, c client.Client) (*v1beta1.LoadTest, *batchv1.Job, *corev1.Pod) {
	t.Helper()
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{
		Target:      v1beta1.Target{URL: "http://shortener:8080"},
		Requests:    []v1beta1.Request{{Name: "health", HTTP: &v1beta1.HTTPRequest{Path: "/health"}}},
		Parallelism: ptr.To[int32](2),
		Ladder:      &v1beta1.Ladder{Users: []int32{10}, Duration: metav1.Duration{Duration: time.Second}},
	}}
	lt.Namespace, lt.Name = apiserver.Namespace(t), "hello"
	must.Succeed(t, c.Create(t.Context(), lt))
	lt.Status.Workers.Desired = 2
	job := desired.Job(lt, desired.Config{WorkerImage: "worker:test"})
	must.Succeed(t, c.Create(t.Context(), job))
	return lt, job, apiserver.Pod(t, c, job, 1)
}

func bearer(t *testing.T, c client.Client, pod *corev1.Pod) string {
	t.Helper()
	return token(t, c, pod.Namespace, workerv1.Audience, pod)
}

// forgedJob is a Job with the labels of another, whose owner is of the author's choice.
func forgedJob(t *testing.T, c client.Client, namespace string, of *batchv1.Job, owners []metav1.OwnerReference) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{Spec: batchv1.JobSpec{Template: apiserver.PodTemplate()}}
	job.Namespace, job.Name, job.Labels, job.OwnerReferences = namespace, "forged", of.Labels, owners
	must.Succeed(t, c.Create(t.Context(), job))
	job.Spec.Template.Labels = of.Labels
	return job
}

// deleting deletes an object that something still holds.
func deleting(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	before := obj.DeepCopyObject().(client.Object)
	obj.SetFinalizers([]string{"example.com/hold"})
	must.Succeed(t, errors.Join(c.Patch(t.Context(), obj, client.MergeFrom(before)), c.Delete(t.Context(), obj)))
	t.Cleanup(func() {
		before := obj.DeepCopyObject().(client.Object)
		obj.SetFinalizers(nil)
		if err := c.Patch(context.Background(), obj, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
}

func authenticate(t *testing.T, c client.Client, token string) (coordinator.Identity, error) {
	t.Helper()
	return identity.New(c, clock.RealClock{}).Authenticate(t.Context(), token)
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	lt, job, worker := withWorker(t, c)
	got, err := authenticate(t, c, bearer(t, c, worker))
	want := coordinator.Identity{
		Run: coordinator.RunID(lt.UID), Worker: 1,
		Namespace: lt.Namespace, Pod: worker.Name, PodUID: string(worker.UID), Node: worker.Spec.NodeName,
		Created: worker.CreationTimestamp.Time,
	}
	if err != nil || got != want {
		t.Errorf("a worker: got %+v, %v; want %+v", got, err, want)
	}

	elsewhere := apiserver.Namespace(t)
	impostor := func(job *batchv1.Job) string { return bearer(t, c, apiserver.Pod(t, c, job, 1)) }
	valid := bearer(t, c, worker)
	for name, token := range map[string]string{
		"another audience":            token(t, c, lt.Namespace, "https://kubernetes.default.svc", worker),
		"not bound to a pod":          token(t, c, lt.Namespace, workerv1.Audience, nil),
		"a pod of another Job":        impostor(forgedJob(t, c, lt.Namespace, job, nil)),
		"an owner of elsewhere":       impostor(forgedJob(t, c, elsewhere, job, job.OwnerReferences)),
		"without a signature":         valid[:strings.LastIndex(valid, ".")+1],
		"signed for another payload":  valid[:len(valid)-8] + "AAAAAAAA",
		"no token of this API server": "eyJhbGciOiJub25lIn0.e30.",
	} {
		if got, err := authenticate(t, c, token); !errors.Is(err, coordinator.ErrUnauthenticated) || got != (coordinator.Identity{}) {
			t.Errorf("%s: got %+v, %v; want that the token is refused for good", name, got, err)
		}
	}
}

// The operator's cache keeps of each object all that an identity stands on.
func TestAuthenticateFromTheCache(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	lt, job, worker := withWorker(t, c)
	valid := bearer(t, c, worker)
	want, err := authenticate(t, c, valid)
	must.Succeed(t, err)
	options, _, err := loadtest.CacheOptions()
	must.Succeed(t, err)
	reader := apiserver.Cached(t, options)
	// The first list of a cache may be of a moment before the objects were made.
	for _, object := range []client.Object{lt, job, worker} {
		key := client.ObjectKeyFromObject(object)
		await.True(t, fmt.Sprintf("the cache has %T %s", object, key), func() bool {
			return reader.Get(t.Context(), key, object.DeepCopyObject().(client.Object)) == nil
		})
	}
	got, err := authenticate(t, reader, valid)
	if err != nil || got.PodUID != want.PodUID || !got.Created.Equal(want.Created) || got.Run != want.Run || got.Worker != want.Worker {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	must.Report(t, "checked again", identity.New(reader, clock.RealClock{}).Check(t.Context(), got))
}

// The LoadTest of another namespace is no owner, not even one that has the name of a
// LoadTest in the pod's own.
func TestPodCannotSpeakForAnotherNamespace(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	_, victims, _ := withWorker(t, c)
	own, _, _ := withWorker(t, c)
	pod := apiserver.Pod(t, c, forgedJob(t, c, own.Namespace, victims, victims.OwnerReferences), 1)
	if got, err := authenticate(t, c, bearer(t, c, pod)); !errors.Is(err, coordinator.ErrUnauthenticated) || !strings.Contains(err.Error(), "by another UID") {
		t.Errorf("got %+v, %v; want that the owner is of another UID", got, err)
	}
}

// A worker that is told to end hands over what it measured first.
func TestAWorkerWhosePodEndsIsStillItself(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	_, _, worker := withWorker(t, c)
	valid := bearer(t, c, worker)
	deleting(t, c, worker)
	if got, err := authenticate(t, c, valid); err != nil || got.PodUID != string(worker.UID) {
		t.Errorf("a pod that ends: got %+v, %v; want its worker", got, err)
	}
}

func TestTokenOfADeletedPod(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	_, job, worker := withWorker(t, c)
	valid := bearer(t, c, worker)
	must.Succeed(t, c.Delete(t.Context(), worker, client.GracePeriodSeconds(0)))
	if got, err := authenticate(t, c, valid); err == nil {
		t.Errorf("a pod that is gone: got %+v", got)
	}
	// Its name can be used again; its token is not the new pod's.
	if young := apiserver.Pod(t, c, job, 1); young.Name != worker.Name {
		t.Fatalf("the pod's name is %s, want that of the one before", young.Name)
	}
	if got, err := authenticate(t, c, valid); !errors.Is(err, coordinator.ErrUnauthenticated) || !strings.Contains(err.Error(), "was replaced") {
		t.Errorf("a pod that was replaced: got %+v, %v; want that it is refused for good", got, err)
	}
}

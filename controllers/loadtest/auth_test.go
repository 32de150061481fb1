package loadtest_test

import (
	"errors"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "c", Image: "i"}},
	}}
}

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
	if err := c.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

func TestAuthenticate(t *testing.T) {
	c := apiserver.Client(t)
	lt := hello(t)
	lt.Status.Workers.Desired = 2
	job := desired.Job(lt, desired.Config{WorkerImage: "worker:test"})
	if err := c.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	worker := makePod(t, c, job, 1)

	// A pod with the labels of a worker, owned by a foreign Job.
	forged := &batchv1.Job{Spec: batchv1.JobSpec{Template: podTemplate()}}
	forged.Namespace, forged.Name, forged.Labels = lt.Namespace, "forged", job.Labels
	if err := c.Create(t.Context(), forged); err != nil {
		t.Fatal(err)
	}
	forged.Spec.Completions, forged.Spec.Template.Labels = new(int32), job.Labels
	impostor := makePod(t, c, forged, 1)

	for name, tc := range map[string]struct {
		token string
		want  coordinator.Identity
		ok    bool
	}{
		"a worker":                {token: token(t, c, lt.Namespace, workerv1.Audience, worker), ok: true, want: coordinator.Identity{Run: coordinator.RunID(lt.UID), Worker: 1, Pod: worker.Name}},
		"another audience":        {token: token(t, c, lt.Namespace, "https://kubernetes.default.svc", worker)},
		"not bound to a pod":      {token: token(t, c, lt.Namespace, workerv1.Audience, nil)},
		"a pod of another Job":    {token: token(t, c, lt.Namespace, workerv1.Audience, impostor)},
		"no token of this server": {token: "eyJhbGciOiJub25lIn0.e30."},
	} {
		t.Run(name, func(t *testing.T) {
			a := &loadtest.Authenticator{Client: c}
			got, err := a.Authenticate(t.Context(), tc.token)
			if tc.ok != (err == nil) || got != tc.want {
				t.Fatalf("got %+v, %v; want %+v, ok %v", got, err, tc.want, tc.ok)
			}
			if err != nil && !errors.Is(err, coordinator.ErrUnauthenticated) {
				t.Errorf("%v does not say that the token is refused for good", err)
			}
		})
	}
}

// An error that may pass must not send a worker away.
func TestAuthenticateLater(t *testing.T) {
	c := apiserver.Client(t)
	lt := hello(t)
	lt.Status.Workers.Desired = 1
	job := desired.Job(lt, desired.Config{WorkerImage: "worker:test"})
	if err := c.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	pod := makePod(t, c, job, 0)
	bearer := token(t, c, lt.Namespace, workerv1.Audience, pod)
	down := failing(c, func() error { return errors.New("connection refused") })
	_, err := (&loadtest.Authenticator{Client: down}).Authenticate(t.Context(), bearer)
	if err == nil || errors.Is(err, coordinator.ErrUnauthenticated) {
		t.Errorf("got %v; want an error that may pass", err)
	}
}

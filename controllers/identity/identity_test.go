package identity_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/identity"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// chain is all that an identity stands on: the token's claims, what the API server
// answers of it, the pod, the Job and the LoadTest.
type chain struct {
	claims jwt
	review authenticationv1.TokenReviewStatus
	pod    corev1.Pod
	job    batchv1.Job
	test   v1beta1.LoadTest
	// away is what cannot be asked for: "review", "pod", "job" or "test".
	away string
	// reviews is how many were asked for.
	reviews int
}

// jwt has the claims of a service account's token.
type jwt struct {
	Audience   any   `json:"aud"`
	Expiry     int64 `json:"exp"`
	Kubernetes struct {
		Namespace string            `json:"namespace"`
		Pod       map[string]string `json:"pod"`
	} `json:"kubernetes.io"`
}

// token is signed by nothing.
func (j jwt) token() string {
	body, err := json.Marshal(j)
	if err != nil {
		panic(err)
	}
	return "e30." + base64.RawURLEncoding.EncodeToString(body) + ".c2lnbmF0dXJl"
}

func controlled(apiVersion, kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: ptr.To(true)}}
}

// ofWorker is the chain of worker 1 of a run.
func ofWorker() *chain {
	c := &chain{review: authenticationv1.TokenReviewStatus{
		Authenticated: true,
		Audiences:     []string{workerv1.Audience},
		User: authenticationv1.UserInfo{
			Username: "system:serviceaccount:team-a:default",
			Extra: map[string]authenticationv1.ExtraValue{
				"authentication.kubernetes.io/pod-name": {"hello-1-abcde"}, "authentication.kubernetes.io/pod-uid": {"pod-uid"},
			},
		},
	}}
	c.claims.Audience, c.claims.Expiry = []string{workerv1.Audience}, noon.Add(10*time.Minute).Unix()
	c.claims.Kubernetes.Namespace = "team-a"
	c.claims.Kubernetes.Pod = map[string]string{"name": "hello-1-abcde", "uid": "pod-uid"}
	c.pod.Namespace, c.pod.Name, c.pod.UID, c.pod.Spec.NodeName = "team-a", "hello-1-abcde", "pod-uid", "node-7"
	c.pod.CreationTimestamp = metav1.NewTime(noon)
	c.pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: "1"}
	c.pod.Labels = map[string]string{batchv1.JobCompletionIndexAnnotation: "1"}
	c.pod.OwnerReferences = controlled("batch/v1", "Job", "hello", "job-uid")
	c.job.Namespace, c.job.Name, c.job.UID = "team-a", "hello", "job-uid"
	c.job.OwnerReferences = controlled("loadtest.dev/v1beta1", "LoadTest", "hello", "run-uid")
	c.test.Namespace, c.test.Name, c.test.UID = "team-a", "hello", "run-uid"
	return c
}

// client answers from the chain.
func (c *chain) client() client.Client {
	find := func(key client.ObjectKey, what string, stored client.Object) error {
		switch {
		case c.away == what:
			return errors.New("connection refused")
		case key != client.ObjectKeyFromObject(stored):
			return apierrors.NewNotFound(corev1.Resource(what), key.Name)
		}
		return nil
	}
	return interceptor.NewClient(nil, interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.CreateOption) error {
			review := obj.(*authenticationv1.TokenReview)
			if review.Spec.Token != c.claims.token() || !slices.Equal(review.Spec.Audiences, []string{workerv1.Audience}) {
				return errors.New("another token, or another audience")
			}
			c.reviews++
			review.Status = c.review
			return find(client.ObjectKey{}, "review", &corev1.Pod{})
		},
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			switch obj := obj.(type) {
			case *corev1.Pod:
				*obj = c.pod
				return find(key, "pod", &c.pod)
			case *batchv1.Job:
				*obj = c.job
				return find(key, "job", &c.job)
			case *v1beta1.LoadTest:
				*obj = c.test
				return find(key, "test", &c.test)
			}
			return errors.New("unexpected read")
		},
	})
}

func (c *chain) authenticator() *identity.Authenticator {
	return identity.New(c.client(), clocktesting.NewFakePassiveClock(noon))
}

func (c *chain) authenticate(t *testing.T) (coordinator.Identity, error) {
	t.Helper()
	return c.authenticator().Authenticate(t.Context(), c.claims.token())
}

type forgery struct {
	edit func(*chain)
	want string // what the refusal says
}

// forgedReviews are tokens that the API server does not confirm.
func forgedReviews() map[string]forgery {
	name := func(username string) func(*chain) {
		return func(c *chain) { c.review.User.Username = username }
	}
	extra := func(key string, values ...string) func(*chain) {
		return func(c *chain) { c.review.User.Extra["authentication.kubernetes.io/"+key] = values }
	}
	return map[string]forgery{
		"not authenticated":             {func(c *chain) { c.review.Authenticated = false }, "not valid for audience"},
		"reviewed for no audience":      {func(c *chain) { c.review.Audiences = nil }, "not reviewed for audience"},
		"reviewed for another audience": {func(c *chain) { c.review.Audiences = []string{"kubernetes"} }, "not reviewed for audience"},
		"a person":                      {name("system:serviceaccounts:team-a:default"), "not of a service account"},
		"an account of no namespace":    {name("system:serviceaccount::default"), "not of a service account"},
		"a namespace of no account":     {name("system:serviceaccount:team-a"), "not of a service account"},
		"an account of elsewhere":       {name("system:serviceaccount:team-b:default"), "not of a service account in namespace team-a"},
		"no pod":                        {extra("pod-name"), "not bound to pod"},
		"a pod of any UID":              {extra("pod-uid"), "not bound to pod"},
		"two pods":                      {extra("pod-name", "hello-1-abcde", "hello-0-abcde"), "not bound to pod"},
		"another pod":                   {extra("pod-name", "hello-0-abcde"), "not bound to pod"},
		"a deleted pod of the name":     {extra("pod-uid", "earlier"), "not bound to pod"},
	}
}

// forgedChains are pods that are no workers, whatever their token says.
func forgedChains() map[string]forgery {
	index := func(n string) func(*chain) {
		return func(c *chain) {
			c.pod.Annotations[batchv1.JobCompletionIndexAnnotation] = n
			c.pod.Labels[batchv1.JobCompletionIndexAnnotation] = n
		}
	}
	now := metav1.NewTime(noon)
	return map[string]forgery{
		"a pod that was replaced":    {func(c *chain) { c.claims.Kubernetes.Pod["uid"] = "earlier" }, "pod team-a/hello-1-abcde was replaced"},
		"no index":                   {index(""), "has no completion index"},
		"an index that wraps around": {index("4294967297"), "has no completion index"},
		"an index below 0":           {index("-1"), "has no completion index"},
		"an index of two spellings":  {index("01"), "has no completion index"},
		"an index of another worker": {index("0"), "does not have the name of completion index 0"},
		"an annotation alone":        {func(c *chain) { delete(c.pod.Labels, batchv1.JobCompletionIndexAnnotation) }, "but its label has another"},
		"a pod without an owner":     {func(c *chain) { c.pod.OwnerReferences = nil }, "does not belong to a Job"},
		"a pod of another kind":      {func(c *chain) { c.pod.OwnerReferences[0].Kind = "ReplicaSet" }, "does not belong to a Job"},
		"a pod of a foreign Job":     {func(c *chain) { c.pod.OwnerReferences[0].APIVersion = "example.com/v1" }, "does not belong to a Job"},
		"a pod that only names a Job": {
			func(c *chain) { c.pod.OwnerReferences[0].Controller = nil }, "does not belong to a Job",
		},
		"a Job that was replaced":     {func(c *chain) { c.job.UID = "later" }, "was replaced"},
		"a Job that is being deleted": {func(c *chain) { c.job.DeletionTimestamp = &now }, "the Job of pod team-a/hello-1-abcde is being deleted"},
		"a Job without an owner":      {func(c *chain) { c.job.OwnerReferences = nil }, "does not belong to a LoadTest"},
		"a Job that only names a LoadTest": {
			func(c *chain) { c.job.OwnerReferences[0].Controller = nil }, "does not belong to a LoadTest",
		},
		"a Job of another kind": {func(c *chain) { c.job.OwnerReferences[0].Kind = "CronJob" }, "does not belong to a LoadTest"},
		"a foreign LoadTest":    {func(c *chain) { c.job.OwnerReferences[0].APIVersion = "example.com/v1alpha1" }, "does not belong to a LoadTest"},
		// The owner reference is of the author's choice; its LoadTest is another's.
		"a LoadTest of another namespace": {func(c *chain) { c.test.Namespace = "team-b" }, "which is not in its namespace"},
		"a LoadTest of another UID":       {func(c *chain) { c.job.OwnerReferences[0].UID = "run-of-team-b" }, "by another UID"},
		"a LoadTest that was replaced":    {func(c *chain) { c.test.UID = "later" }, "by another UID"},
		"a LoadTest that is being deleted": {
			func(c *chain) { c.test.DeletionTimestamp = &now }, "LoadTest team-a/hello is being deleted",
		},
	}
}

// forgedClaims are tokens that show by themselves that they are no worker's.
func forgedClaims() map[string]forgery {
	return map[string]forgery{
		"another audience":  {func(c *chain) { c.claims.Audience = "https://kubernetes.default.svc" }, "not for audience"},
		"no audience":       {func(c *chain) { c.claims.Audience = nil }, "not for audience"},
		"an odd audience":   {func(c *chain) { c.claims.Audience = 7 }, "not a service account token"},
		"expired":           {func(c *chain) { c.claims.Expiry = noon.Add(-2 * time.Minute).Unix() }, "has expired"},
		"without an end":    {func(c *chain) { c.claims.Expiry = 0 }, "has expired"},
		"bound to nothing":  {func(c *chain) { c.claims.Kubernetes.Pod = nil }, "not bound to a pod"},
		"bound to any UID":  {func(c *chain) { delete(c.claims.Kubernetes.Pod, "uid") }, "not bound to a pod"},
		"bound to any name": {func(c *chain) { delete(c.claims.Kubernetes.Pod, "name") }, "not bound to a pod"},
		"of no namespace":   {func(c *chain) { c.claims.Kubernetes.Namespace = "" }, "not bound to a pod"},
	}
}

// Each link from a token to its run can be forged. Only what the API server alone
// has read costs it a review.
func TestEveryLinkOfAnIdentityIsChecked(t *testing.T) {
	t.Parallel()
	for reviews, forgeries := range []map[string]forgery{0: forgedClaims(), 1: forgedReviews()} {
		check(t, forgeries, reviews)
	}
	check(t, forgedChains(), 0)
}

func check(t *testing.T, forgeries map[string]forgery, reviews int) {
	t.Helper()
	for name, tc := range forgeries {
		t.Run(name, func(t *testing.T) {
			c := ofWorker()
			tc.edit(c)
			got, err := c.authenticate(t)
			if !errors.Is(err, coordinator.ErrUnauthenticated) || !strings.Contains(err.Error(), tc.want) || got != (coordinator.Identity{}) {
				t.Errorf("got %+v and %v, want that it %s", got, err, tc.want)
			}
			same.As(t, "reviews that were asked for", reviews, c.reviews)
		})
	}
}

func TestTokensThatAreNoneCostNoReview(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", ".", "..", "a.b.c", "e30.bnVsbA", "e30.W10.", "e30.e30.", "e30.!.e30", strings.Repeat(".", 1000)} {
		c := ofWorker()
		if _, err := c.authenticator().Authenticate(t.Context(), token); !errors.Is(err, coordinator.ErrUnauthenticated) || c.reviews != 0 {
			t.Errorf("%q: %v after %d reviews, want that it is refused without one", token, err, c.reviews)
		}
	}
}

func TestIdentityOfAWorker(t *testing.T) {
	t.Parallel()
	want := coordinator.Identity{
		Run: "run-uid", Worker: 1, Namespace: "team-a", Pod: "hello-1-abcde", PodUID: "pod-uid", Node: "node-7", Created: noon,
	}
	now := metav1.NewTime(noon)
	for name, edit := range map[string]func(*chain){
		"a worker":                       func(*chain) {},
		"an audience that is no list":    func(c *chain) { c.claims.Audience = workerv1.Audience },
		"one that hands over and ends":   func(c *chain) { c.pod.DeletionTimestamp = &now },
		"the API server's clock is late": func(c *chain) { c.claims.Expiry = noon.Add(-time.Second).Unix() },
	} {
		c := ofWorker()
		edit(c)
		if got, err := c.authenticate(t); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
}

// The Job controller cuts a long name so that its pods' names fit.
func TestPodsOfAJobWithALongName(t *testing.T) {
	t.Parallel()
	c := ofWorker()
	long := strings.Repeat("x", 63)
	c.job.Name, c.pod.OwnerReferences[0].Name = long, long
	c.pod.Name = long[:55] + "-1-abcde"
	c.claims.Kubernetes.Pod["name"] = c.pod.Name
	c.review.User.Extra["authentication.kubernetes.io/pod-name"] = []string{c.pod.Name}
	if got, err := c.authenticate(t); err != nil || got.Worker != 1 {
		t.Errorf("got %+v, %v, want worker 1", got, err)
	}
}

// What cannot be asked now says nothing against a worker; nor does a pod or Job
// that the cache will have in a moment.
func TestTemporaryFailuresDoNotRefuseAWorker(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*chain){
		"the review":           func(c *chain) { c.away = "review" },
		"the pod":              func(c *chain) { c.away = "pod" },
		"a pod not there yet":  func(c *chain) { c.pod.Name = "later" },
		"the Job":              func(c *chain) { c.away = "job" },
		"a Job not there yet":  func(c *chain) { c.job.Name = "later" },
		"the Job of elsewhere": func(c *chain) { c.job.Namespace = "team-b" },
		"the LoadTest":         func(c *chain) { c.away = "test" },
	} {
		t.Run(name, func(t *testing.T) {
			c := ofWorker()
			edit(c)
			got, err := c.authenticate(t)
			if err == nil || errors.Is(err, coordinator.ErrUnauthenticated) || got != (coordinator.Identity{}) {
				t.Errorf("got %+v and %v, want no identity, and a retryable error", got, err)
			}
		})
	}
}

// An identity is checked again from what the cache holds alone.
func TestIdentityThatNoLongerHolds(t *testing.T) {
	t.Parallel()
	was, err := ofWorker().authenticate(t)
	must.Succeed(t, err)
	gone := map[string]forgery{
		"its pod is gone": {func(c *chain) { c.pod.Name = "another" }, "not found"},
		"its Job is gone": {func(c *chain) { c.job.Name = "another" }, "not found"},
		"its Job is of another LoadTest": {func(c *chain) {
			c.job.OwnerReferences[0].UID, c.test.UID = "another", "another"
		}, "belongs to another worker now"},
	}
	for name, tc := range forgedChains() {
		if name != "a pod that was replaced" { // by its claims
			gone[name] = tc
		}
	}
	for name, tc := range gone {
		c := ofWorker()
		tc.edit(c)
		err := c.authenticator().Check(t.Context(), was)
		if !errors.Is(err, coordinator.ErrUnauthenticated) || !strings.Contains(err.Error(), tc.want) || c.reviews != 0 {
			t.Errorf("%s: %v after %d reviews, want %s, and no review", name, err, c.reviews, tc.want)
		}
	}
	for name, edit := range map[string]func(*chain){
		"it holds":                 func(*chain) {},
		"its pod is being deleted": func(c *chain) { c.pod.DeletionTimestamp = ptr.To(metav1.NewTime(noon)) },
	} {
		c := ofWorker()
		edit(c)
		if err := c.authenticator().Check(t.Context(), was); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := ofWorker()
	c.away = "job"
	if err := c.authenticator().Check(t.Context(), was); err == nil || errors.Is(err, coordinator.ErrUnauthenticated) {
		t.Errorf("the cache is away: %v, want an error that may pass", err)
	}
}

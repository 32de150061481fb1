package command

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/admission"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The last run is deleted already: an API server that is away for a while does not keep the next from being created.
func TestReplaceOutlivesAnOutage(t *testing.T) {
	old := seen("1", v1beta1.PhaseFinished, over)
	away, gone := errors.New("connection refused"), apierrors.NewNotFound(loadtests, "hello")
	for name, tt := range map[string]struct {
		gets    []moment
		wantErr string
	}{
		"away":           {[]moment{{err: away}, {lt: old}, {err: away}, {err: gone}}, ""},
		"created again":  {[]moment{{err: away}, {lt: seen("2", v1beta1.PhasePending)}}, ""},
		"without rights": {[]moment{{err: apierrors.NewUnauthorized("the token has expired")}}, "wait for LoadTest shop/hello to be deleted: the token has expired"},
	} {
		t.Run(name, inVirtualTime(func(t *testing.T) {
			c := &config{streams: Streams{Err: t.Output()}}
			err := c.awaitGone(t.Context(), &cluster{WithWatch: server(t, tt.gets, nil)}, old)
			if (err == nil) != (tt.wantErr == "") || err != nil && err.Error() != tt.wantErr {
				t.Errorf("awaitGone() = %v, want %q", err, tt.wantErr)
			}
		}))
	}
}

// A run may finish after it was read and before it is told to end.
func TestCancelOfWhatHasJustFinished(t *testing.T) {
	for _, wait := range []bool{false, true} {
		var out strings.Builder
		api := interceptor.NewClient(server(t, []moment{{lt: seen("1", v1beta1.PhaseRunning)}}, nil), interceptor.Funcs{
			Patch: func(_ context.Context, _ client.WithWatch, into client.Object, _ client.Patch, _ ...client.PatchOption) error {
				lt := seen("1", v1beta1.PhaseFinished, over)
				lt.Status.Verdict = v1beta1.VerdictPassed
				lt.DeepCopyInto(into.(*v1beta1.LoadTest))
				return nil
			},
		})
		c := &config{streams: Streams{Out: &out, Err: t.Output()}}
		must.Succeed(t, c.cancelOne(t.Context(), &cluster{WithWatch: api, namespace: "shop"}, "hello", wait))
		if want := "LoadTest shop/hello has finished: Passed\n"; out.String() != want {
			t.Errorf("with wait %t: %q, want %q", wait, out.String(), want)
		}
	}
}

const heldHello = `
apiVersion: loadtest.dev/v1beta1
kind: LoadTest
metadata: {name: hello, namespace: shop}
spec:
  suspend: true
  target: {url: "http://shortener:8080"}
  requests: [{name: health, http: {path: /health}}]
  steps: [{name: 10 users, users: 10, duration: 5s}]
`

// A LoadTest that was deleted and created again is not changed in place of the first.
func TestAnotherOfTheNameIsNotChanged(t *testing.T) {
	lt := &v1beta1.LoadTest{}
	must.Succeed(t, yaml.Unmarshal([]byte(heldHello), lt))
	lt.Namespace = apiserver.Namespace(t)
	c := &cluster{WithWatch: apiserver.Client(t)}
	must.Succeed(t, c.Create(t.Context(), lt))
	lt.UID = "the first"
	if err := c.set(t.Context(), lt, "terminate", true); !apierrors.IsNotFound(err) {
		t.Errorf("the change of another: %v, want that the first is not found", err)
	}
}

// A LoadTest that is changed after it was compared with the file is compared again before it starts.
func TestResumeComparesWhatStarts(t *testing.T) {
	manifest := &unstructured.Unstructured{}
	text, err := yaml.YAMLToJSON([]byte(heldHello))
	must.Succeed(t, err)
	must.Succeed(t, manifest.UnmarshalJSON(text)) // whose whole numbers are integers
	for name, tt := range map[string]struct {
		change  func(*v1beta1.LoadTest)
		wantErr string
	}{
		"the spec is another":   {func(lt *v1beta1.LoadTest) { *lt.Spec.Steps[0].Users = 11 }, "has another spec than the file"},
		"the status is another": {func(lt *v1beta1.LoadTest) { lt.Status.Phase = v1beta1.PhaseSuspended }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := admission.OfLoadTests()
			must.Succeed(t, err)
			stored, err := rules.Admit(t.Context(), manifest)
			must.Succeed(t, err)
			stored.ResourceVersion = "7"
			api := interceptor.NewClient(nil, interceptor.Funcs{
				Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
					stored.DeepCopyInto(into.(*v1beta1.LoadTest))
					return nil
				},
				Patch: func(_ context.Context, _ client.WithWatch, into client.Object, patch client.Patch, _ ...client.PatchOption) error {
					if stored.ResourceVersion == "7" {
						tt.change(stored)
						stored.ResourceVersion = "8"
					}
					data, err := patch.Data(into)
					if err != nil || strings.Contains(string(data), `"resourceVersion":"7"`) {
						return errors.Join(err, apierrors.NewConflict(loadtests, "hello", errors.New("it has been modified")))
					}
					stored.Spec.Suspend = false
					return nil
				},
			})
			_, err = (&cluster{WithWatch: api}).resumeSame(t.Context(), manifest)
			if (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("resumeSame() = %v, want %q", err, tt.wantErr)
			}
			if stored.Spec.Suspend != (tt.wantErr != "") {
				t.Errorf("suspend is %t", stored.Spec.Suspend)
			}
		})
	}
}

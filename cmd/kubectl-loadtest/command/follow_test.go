// The race detector looks at the tests of this file, too: what follows a run is ended by another goroutine.

package command

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/display"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// moment is an answer of the API server: a LoadTest or an error.
type moment struct {
	lt  *v1beta1.LoadTest
	err error
}

func seen(uid string, phase v1beta1.Phase, conditions ...metav1.Condition) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{}
	lt.Namespace, lt.Name, lt.UID, lt.ResourceVersion = "shop", "hello", types.UID(uid), "7"
	lt.Status.Phase, lt.Status.Conditions = phase, conditions
	return lt
}

var over = metav1.Condition{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue}

// server answers Get with one moment after another and each Watch with the
// events of one list, after which the watch is closed.
func server(t *testing.T, gets []moment, watches [][]watch.Event) client.WithWatch {
	return interceptor.NewClient(nil, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			if len(gets) == 0 {
				t.Fatal("one read too many")
			}
			now := gets[0]
			gets = gets[1:]
			if now.err == nil {
				now.lt.DeepCopyInto(into.(*v1beta1.LoadTest))
			}
			return now.err
		},
		Watch: func(_ context.Context, _ client.WithWatch, _ client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
			// Other objects of the namespace, and earlier versions, are not
			// requested.
			asked := (&client.ListOptions{}).ApplyOptions(opts)
			if asked.Namespace != "shop" || asked.FieldSelector.String() != "metadata.name=hello" || asked.Raw.ResourceVersion != "7" {
				t.Errorf("watched %+v, want only hello in shop, from what was read", asked)
			}
			if len(watches) == 0 {
				return nil, errors.New("the watch is refused")
			}
			w := watch.NewFakeWithChanSize(len(watches[0]), false)
			for _, event := range watches[0] {
				w.Action(event.Type, event.Object)
			}
			watches = watches[1:]
			w.Stop()
			return w, nil
		},
	})
}

func TestFollow(t *testing.T) {
	start, end := seen("1", v1beta1.PhaseStarting), seen("1", v1beta1.PhaseFinished, over)
	loadtests := schema.GroupResource{Group: "loadtest.dev", Resource: "loadtests"}
	event := func(kind watch.EventType, lt *v1beta1.LoadTest) watch.Event {
		return watch.Event{Type: kind, Object: lt}
	}
	expired := apierrors.NewResourceExpired("too old").Status()
	gone := metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonGone, Code: 410}
	internal := apierrors.NewInternalError(errors.New("etcd is away")).Status()
	tests := map[string]struct {
		gets    []moment
		watches [][]watch.Event
		wantErr string
		wantLog []string
	}{
		"finished from the start":    {gets: []moment{{lt: end}}},
		"finishes while watched":     {gets: []moment{{lt: start}}, watches: [][]watch.Event{{event(watch.Modified, start), event(watch.Modified, end)}}},
		"the watch closes":           {gets: []moment{{lt: start}, {lt: start}, {lt: end}}, watches: [][]watch.Event{{}, {event(watch.Bookmark, start)}}},
		"the watch expires":          {gets: []moment{{lt: start}, {lt: end}}, watches: [][]watch.Event{{{Type: watch.Error, Object: &expired}}}},
		"the watch is gone":          {gets: []moment{{lt: start}, {lt: end}}, watches: [][]watch.Event{{{Type: watch.Error, Object: &gone}}}},
		"an event of something else": {gets: []moment{{lt: start}}, watches: [][]watch.Event{{{Type: watch.Modified, Object: &internal}, event(watch.Modified, end)}}},
		"the server is away for a while": {
			gets:    []moment{{err: errors.New("connection refused")}, {err: errors.New("connection refused")}, {lt: start}, {lt: end}},
			watches: [][]watch.Event{{{Type: watch.Error, Object: &internal}}},
			wantLog: []string{"connection refused", "etcd is away"},
		},
		"the watch is refused": {gets: []moment{{lt: start}, {lt: end}}, wantLog: []string{"the watch is refused"}},
		"never there":          {gets: []moment{{err: apierrors.NewNotFound(loadtests, "hello")}}, wantErr: `loadtests.loadtest.dev "hello" not found`},
		"forbidden":            {gets: []moment{{err: apierrors.NewForbidden(loadtests, "hello", nil)}}, wantErr: "is forbidden"},
		"unauthorized":         {gets: []moment{{err: apierrors.NewUnauthorized("the token has expired")}}, wantErr: "the token has expired"},
		"deleted":              {gets: []moment{{lt: start}}, watches: [][]watch.Event{{event(watch.Deleted, start)}}, wantErr: "LoadTest hello was deleted while it was followed"},
		"another of the same name": {
			gets:    []moment{{lt: start}, {lt: seen("2", v1beta1.PhaseFinished, over)}},
			watches: [][]watch.Event{{}},
			wantErr: "LoadTest hello was deleted while it was followed",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "hello"}}
			f := &follower{WithWatch: server(t, test.gets, test.watches), display: &display.Log{W: &log}, latest: lt}
			got, err := f.follow(t.Context())
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("follow() = %v, want an error that says %q", err, test.wantErr)
				}
				return
			}
			must.Succeed(t, err)
			if got.Status.Phase != v1beta1.PhaseFinished {
				t.Errorf("follow() returned phase %s, want Finished", got.Status.Phase)
			}
			if logged := strings.Contains(log.String(), "does not answer"); logged != (test.wantLog != nil) {
				t.Errorf("the log has the error: %t, want %t:\n%s", logged, test.wantLog != nil, log.String())
			}
			for _, part := range test.wantLog {
				if n := strings.Count(log.String(), part); n != 1 {
					t.Errorf("the log says %q %d times, want once:\n%s", part, n, log.String())
				}
			}
		})
	}
}

// shows counts how often the state is shown.
type shows struct {
	display.Display
	n int
}

func (s *shows) Show(time.Time, func(int, int) []string, string) { s.n++ }

// A bar grows while nothing happens.
func TestFollowShowsTheElapsedTime(t *testing.T) {
	open := watch.NewFake()
	f := &follower{latest: seen("1", v1beta1.PhaseRunning), display: &shows{}, WithWatch: interceptor.NewClient(nil, interceptor.Funcs{
		Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
			return open, nil
		},
	})}
	ticks := make(chan time.Time)
	go func() {
		for range 3 {
			ticks <- time.Time{}
		}
		open.Modify(seen("1", v1beta1.PhaseFinished, over))
	}()
	must.Succeed(t, f.watchUntilClosed(t.Context(), ticks))
	if n := f.display.(*shows).n; n != 4 {
		t.Errorf("the state was shown %d times, want 4: at each tick and at the end", n)
	}
	if !open.IsStopped() {
		t.Error("the watch is left open")
	}
}

func TestExplain(t *testing.T) {
	kind := v1beta1.GroupVersion.WithKind("LoadTest")
	loadtests := schema.GroupResource{Group: "loadtest.dev", Resource: "loadtests"}
	tests := map[string]struct {
		err  error
		want string
	}{
		"no CRD, by discovery":   {&meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}, "helm upgrade --install loadtest-operator charts/loadtest-operator"},
		"no CRD, by the server":  {apierrors.NewGenericServerResponse(404, "get", loadtests, "", "", 0, true), "helm upgrade --install loadtest-operator charts/loadtest-operator"},
		"no CRD, for a name":     {apierrors.NewGenericServerResponse(404, "get", loadtests, "hello", "404 page not found", 0, true), "helm upgrade --install loadtest-operator charts/loadtest-operator"},
		"no CRD, to list them":   {apierrors.NewGenericServerResponse(404, "list", loadtests, "", "", 0, false), "helm upgrade --install loadtest-operator charts/loadtest-operator"},
		"nothing but not found":  {&apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound, Code: 404}}, "helm upgrade --install loadtest-operator charts/loadtest-operator"},
		"no connection":          {&url.Error{Op: "Get", URL: "https://a", Err: &net.OpError{Op: "dial", Err: errors.New("no route")}}, "no route: the API server cannot be reached"},
		"not found":              {apierrors.NewNotFound(loadtests, "hello"), "kubectl get loadtests --all-namespaces"},
		"not found, a schedule":  {apierrors.NewNotFound(schema.GroupResource{Group: "loadtest.dev", Resource: "loadtestschedules"}, "nightly"), "kubectl loadtest list --all-namespaces"},
		"not found, a namespace": {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop"), "kubectl create namespace"},
		"forbidden":              {apierrors.NewForbidden(loadtests, "hello", nil), "needs the verbs create, get, list and watch"},
		"unauthorized":           {apierrors.NewUnauthorized("who are you"), "credentials of the kubeconfig"},
		"anything else":          {errors.New("anything else"), "anything else"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := explain(test.err)
			if !strings.Contains(got.Error(), test.want) {
				t.Errorf("explain(%v) = %v, want it to say %q", test.err, got, test.want)
			}
		})
	}
	for _, err := range []error{
		errors.New("anything else"), &net.OpError{Op: "read", Err: errors.New("a file's")}, &url.Error{Op: "Get", URL: "https://a", Err: errors.New("bad certificate")},
	} {
		if got := explain(err); got.Error() != err.Error() {
			t.Errorf("explain(%v) = %v, want it as it is", err, got)
		}
	}
}

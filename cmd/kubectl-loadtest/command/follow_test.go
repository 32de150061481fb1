// The race detector looks at the tests of this file, too: what follows a run is ended by another goroutine.

package command

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
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

var loadtests = schema.GroupResource{Group: "loadtest.dev", Resource: "loadtests"}

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
			w := closing(watches[0])
			watches = watches[1:]
			return w, nil
		},
	})
}

// closing is a watch that is closed after some events.
func closing(events []watch.Event) watch.Interface {
	w := watch.NewFakeWithChanSize(len(events), false)
	for _, event := range events {
		w.Action(event.Type, event.Object)
	}
	w.Stop()
	return w
}

func TestFollow(t *testing.T) {
	start, end := seen("1", v1beta1.PhaseStarting), seen("1", v1beta1.PhaseFinished, over)
	event := func(kind watch.EventType, lt *v1beta1.LoadTest) watch.Event {
		return watch.Event{Type: kind, Object: lt}
	}
	expired := apierrors.NewResourceExpired("too old").Status()
	gone := metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonGone, Code: 410}
	internal := apierrors.NewInternalError(errors.New("etcd is away")).Status()
	tests := map[string]struct {
		gets    []moment
		watches [][]watch.Event
		// pauses is how often it waits for a second before it asks again.
		pauses  int
		wantErr string
		// wantLog is how often the log has these words.
		wantLog map[string]int
	}{
		"finished from the start":    {gets: []moment{{lt: end}}},
		"finishes while watched":     {gets: []moment{{lt: start}}, watches: [][]watch.Event{{event(watch.Modified, start), event(watch.Modified, end)}}},
		"the watch closes at once":   {gets: []moment{{lt: start}, {lt: start}, {lt: end}}, watches: [][]watch.Event{{}, {event(watch.Bookmark, start)}}, pauses: 2},
		"the watch expires":          {gets: []moment{{lt: start}, {lt: end}}, watches: [][]watch.Event{{{Type: watch.Error, Object: &expired}}}, pauses: 1},
		"the watch is gone":          {gets: []moment{{lt: start}, {lt: end}}, watches: [][]watch.Event{{{Type: watch.Error, Object: &gone}}}, pauses: 1},
		"an event of something else": {gets: []moment{{lt: start}}, watches: [][]watch.Event{{{Type: watch.Modified, Object: &internal}, event(watch.Modified, end)}}},
		"the server is away for a while": {
			gets:    []moment{{err: errors.New("connection refused")}, {err: errors.New("connection refused")}, {lt: start}, {lt: end}},
			watches: [][]watch.Event{{{Type: watch.Error, Object: &internal}}},
			pauses:  3,
			wantLog: map[string]int{"connection refused": 1, "etcd is away": 1},
		},
		"the server is away twice": {
			gets:    []moment{{err: errors.New("connection refused")}, {lt: start}, {err: errors.New("connection refused")}, {lt: end}},
			watches: [][]watch.Event{{}},
			pauses:  3,
			wantLog: map[string]int{"connection refused": 2},
		},
		"the watch is refused": {gets: []moment{{lt: start}, {lt: end}}, pauses: 1, wantLog: map[string]int{"the watch is refused": 1}},
		"never there":          {gets: []moment{{err: apierrors.NewNotFound(loadtests, "hello")}}, wantErr: `loadtests.loadtest.dev "hello" not found`},
		"forbidden":            {gets: []moment{{err: apierrors.NewForbidden(loadtests, "hello", nil)}}, wantErr: "is forbidden"},
		"unauthorized":         {gets: []moment{{err: apierrors.NewUnauthorized("the token has expired")}}, wantErr: "the token has expired"},
		"deleted":              {gets: []moment{{lt: start}}, watches: [][]watch.Event{{event(watch.Deleted, start)}}, wantErr: "LoadTest hello was deleted while it was followed"},
		"another of the same name": {
			gets:    []moment{{lt: start}, {lt: seen("2", v1beta1.PhaseFinished, over)}},
			watches: [][]watch.Event{{}},
			pauses:  1,
			wantErr: "LoadTest hello was deleted while it was followed",
		},
	}
	for name, test := range tests {
		t.Run(name, inVirtualTime(func(t *testing.T) {
			var log strings.Builder
			lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "hello"}}
			f := &follower{WithWatch: server(t, test.gets, test.watches), display: &display.Log{W: &log}, latest: lt, retry: time.Second}
			begun := time.Now()
			got, err := f.follow(t.Context())
			if took := time.Since(begun); took != time.Duration(test.pauses)*time.Second {
				t.Errorf("it took %s, want %d pauses", took, test.pauses)
			}
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
			for part, want := range test.wantLog {
				if n := strings.Count(log.String(), part); n != want {
					t.Errorf("the log says %q %d times, want %d:\n%s", part, n, want, log.String())
				}
			}
		}))
	}
}

// inVirtualTime is a test whose pauses take no time.
func inVirtualTime(f func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
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

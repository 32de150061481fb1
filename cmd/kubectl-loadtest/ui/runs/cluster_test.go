package runs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// server is an API server that a test leads.
type server struct {
	mu sync.Mutex
	// tests are listed, two at a time. listErr and watchErr are what is answered instead.
	tests             []*v1beta1.LoadTest
	listErr, watchErr error
	// asked are the requests about LoadTests.
	asked []string
	// watching is the watch that is open.
	watching *watch.FakeWatcher
}

func (s *server) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, ok := list.(*v1beta1.LoadTestList)
	if !ok {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "loadtestschedules"}, "", nil)
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	s.asked = append(s.asked, "list "+o.Continue)
	if s.listErr != nil {
		return s.listErr
	}
	first := 0
	_, _ = fmt.Sscan(o.Continue, &first) // "": the first
	last := min(first+2, len(s.tests))
	for _, lt := range s.tests[first:last] {
		of.Items = append(of.Items, *lt.DeepCopy())
	}
	of.ResourceVersion = "50"
	if last < len(s.tests) {
		of.Continue = fmt.Sprint(last)
	}
	return nil
}

func (s *server) Watch(_ context.Context, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := list.(*v1beta1.LoadTestList); !ok {
		return nil, errors.New("schedules are not watched")
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	s.asked = append(s.asked, "watch "+o.Raw.ResourceVersion)
	if s.watchErr != nil {
		return nil, s.watchErr
	}
	s.watching = watch.NewFake()
	return s.watching, nil
}

// took returns the requests since it was called last.
func (s *server) took() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.asked
	s.asked = nil
	return taken
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func test(name, version string) *v1beta1.LoadTest {
	return &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), ResourceVersion: version}}
}

func names(c *runs.Collection) string {
	list, _ := c.Runs()
	var all []string
	for _, r := range list {
		all = append(all, r.Name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// A watch that breaks is made anew from where it broke; the list is only read again when the
// server no longer knows that.
func TestWatchIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &server{tests: []*v1beta1.LoadTest{test("a", "1"), test("b", "2"), test("c", "3")}}
		known := runs.NewCollection()
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		source := runs.Cluster{Reader: api, Namespace: "shop"}
		done.Go(func() { source.Follow(ctx, known) })
		state := func(when, wantNames string, wantAsked ...string) {
			t.Helper()
			synctest.Wait()
			same.As(t, when+": the runs", wantNames, names(known))
			same.As(t, when+": requests", wantAsked, api.took())
		}
		state("at first", "a b c", "list ", "list 2", "watch 50")

		api.watching.Add(test("d", "60"))
		api.watching.Delete(test("a", "61"))
		state("after events", "b c d")

		api.watching.Stop()
		state("when the watch ended", "b c d")
		<-time.After(time.Second)
		state("a second later", "b c d", "watch 61")

		api.set(func() { api.tests = []*v1beta1.LoadTest{test("b", "70"), test("e", "71")} })
		api.watching.Error(&metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410})
		<-time.After(time.Second)
		state("when the version had expired", "b e", "list ", "watch 50")
		if got := known.Troubles(); got != nil {
			t.Errorf("troubles %q: schedules are optional, and a watch that expires is usual", got)
		}

		api.set(func() { api.listErr, api.watchErr = errors.New("connection refused"), errors.New("connection refused") })
		api.watching.Stop()
		<-time.After(time.Second)
		state("when the server was gone", "b e", "watch 50")
		if got := strings.Join(known.Troubles(), " "); !strings.Contains(got, "connection refused") || !strings.Contains(got, "trying again") {
			t.Errorf("troubles %q do not say that the server is gone", got)
		}
		<-time.After(10 * time.Minute)
		if n := len(api.took()); n < 10 || n > 30 {
			t.Errorf("%d requests in ten minutes without a server, want one each 30 s", n)
		}
		api.set(func() { api.listErr, api.watchErr = nil, nil })
		<-time.After(30 * time.Second)
		state("when it was back", "b e", "list ", "watch 50")
		if got := known.Troubles(); got != nil {
			t.Errorf("troubles %q after the server was back", got)
		}
		cancel()
		done.Wait()
	})
}

// Without the right to list, the pages say so; without the right to watch, the list is read
// again and again.
func TestRightsThatAreMissing(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "loadtest.dev", Resource: "loadtests"}, "", errors.New("no"))
	for name, api := range map[string]*server{"no list": {listErr: forbidden}, "no watch": {watchErr: forbidden, tests: []*v1beta1.LoadTest{test("a", "1")}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				known := runs.NewCollection()
				ctx, cancel := context.WithCancel(t.Context())
				var done sync.WaitGroup
				source := runs.Cluster{Reader: api, Explain: func(err error) error { return fmt.Errorf("%w: ask for it", err) }}
				done.Go(func() { source.Follow(ctx, known) })
				<-time.After(5 * time.Minute)
				if got := strings.Join(known.Troubles(), " "); !strings.Contains(got, "forbidden") || !strings.Contains(got, "ask for it") {
					t.Errorf("troubles %q, want what is missing and the way out", got)
				}
				if _, loaded := known.Runs(); loaded != (api.listErr == nil) {
					t.Errorf("loaded: %t", loaded)
				}
				cancel()
				done.Wait()
			})
		})
	}
}

package history_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/history"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// night is the LoadTest of schedule nightly that finished in a minute.
func night(minute int, change func(*v1beta1.LoadTest)) *v1beta1.LoadTest {
	yes := true
	name := fmt.Sprintf("nightly-%03d", minute)
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID(name),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: "LoadTestSchedule", Name: "nightly", UID: "s", Controller: &yes}},
	}}
	lt.Status.Verdict = v1beta1.VerdictPassed
	lt.Status.CompletionTime = &metav1.Time{Time: time.Unix(int64(minute)*60, 0)}
	if change != nil {
		change(lt)
	}
	return lt
}

// read is the Level of schedule nightly, the names of the LoadTests that were read for it, and the error.
func read(t *testing.T, refuse func(name string) error, tests ...*v1beta1.LoadTest) (runs int, names []string, err error) {
	t.Helper()
	scheme := runtime.NewScheme()
	must.Succeed(t, v1beta1.AddToScheme(scheme))
	b := fake.NewClientBuilder().WithScheme(scheme)
	for _, lt := range tests {
		b.WithObjects(lt)
	}
	c := b.WithInterceptorFuncs(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
		names = append(names, key.Name)
		if refuse != nil {
			if err := refuse(key.Name); err != nil {
				return err
			}
		}
		return c.Get(ctx, key, o, options...)
	}}).Build()
	level, err := history.Reader{Cached: c, Uncached: c}.Level(t.Context(), "shop", "nightly", &v1beta1.LoadTestSpec{})
	if err != nil {
		return 0, names, err
	}
	same.As(t, "schedule of the level", "nightly", level.Schedule)
	return len(level.Runs), names, nil
}

// Those that passed are read, the oldest first: none of another schedule, owner or namespace, that
// failed, runs, or is being deleted.
func TestLoadTestsThatAreRead(t *testing.T) {
	runs, names, err := read(t, nil,
		night(2, nil), night(1, nil),
		night(3, func(lt *v1beta1.LoadTest) { lt.Status.Verdict = v1beta1.VerdictFailed }),
		night(4, func(lt *v1beta1.LoadTest) { lt.Status.Verdict, lt.Status.CompletionTime = "", nil }),
		night(5, func(lt *v1beta1.LoadTest) { lt.OwnerReferences[0].Name = "weekly" }),
		night(6, func(lt *v1beta1.LoadTest) { lt.OwnerReferences[0].Kind = "CronJob" }),
		night(7, func(lt *v1beta1.LoadTest) { lt.OwnerReferences[0].APIVersion = "example.com/v1" }),
		night(8, func(lt *v1beta1.LoadTest) { lt.OwnerReferences = nil }),
		night(9, func(lt *v1beta1.LoadTest) { lt.Namespace = "other" }),
		night(10, func(lt *v1beta1.LoadTest) {
			lt.DeletionTimestamp, lt.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"example.com/held"}
		}),
	)
	must.Succeed(t, err)
	if want := []string{"nightly-001", "nightly-002"}; runs != 2 || !slices.Equal(names, want) {
		t.Errorf("%d runs, read are %q, want %q", runs, names, want)
	}
}

// A schedule with a hundred LoadTests costs sixty reads.
func TestReadsAreBounded(t *testing.T) {
	var tests []*v1beta1.LoadTest
	for i := range 100 {
		tests = append(tests, night(i, nil))
	}
	runs, names, err := read(t, nil, tests...)
	must.Succeed(t, err)
	if runs != 60 || names[0] != "nightly-040" || names[59] != "nightly-099" {
		t.Errorf("%d runs, read are %q", runs, names)
	}
}

// Without a cache the API server is asked for pages.
func TestPages(t *testing.T) {
	asked := 0
	scheme := runtime.NewScheme()
	must.Succeed(t, v1beta1.AddToScheme(scheme))
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(night(1, nil), night(2, nil), night(3, nil)).WithInterceptorFuncs(interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(options)
			if asked++; o.Limit != 2 || (o.Continue != "") != (asked == 2) {
				t.Errorf("request %d has %+v", asked, o)
			}
			into := list.(*v1beta1.LoadTestList)
			into.Items = []v1beta1.LoadTest{*night(3, nil)}
			if asked == 1 {
				into.Items, into.Continue = []v1beta1.LoadTest{*night(1, nil), *night(2, nil)}, "more"
			}
			return nil
		},
	}).Build()
	level, err := history.Reader{Cached: c, Uncached: c, Page: 2}.Level(t.Context(), "shop", "nightly", &v1beta1.LoadTestSpec{})
	must.Succeed(t, err)
	if len(level.Runs) != 3 || asked != 2 {
		t.Errorf("%d runs of %d requests", len(level.Runs), asked)
	}
}

// A LoadTest that is deleted meanwhile is left out; an API server that does not answer is an error.
func TestAPIServerFails(t *testing.T) {
	runs, _, err := read(t, func(name string) error {
		if name == "nightly-001" {
			return notFound(name)
		}
		return nil
	}, night(1, nil), night(2, nil))
	if err != nil || runs != 1 {
		t.Errorf("%d runs, and error %v", runs, err)
	}
	_, _, err = read(t, func(string) error { return errors.New("connection refused") }, night(1, nil))
	if err == nil || !strings.Contains(err.Error(), "schedule nightly: get LoadTest nightly-001: connection refused") {
		t.Errorf("the error is %v", err)
	}
}

func notFound(name string) error {
	return apierrors.NewNotFound(v1beta1.GroupVersion.WithResource("loadtests").GroupResource(), name)
}

package history_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/history"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// stored is an API server with LoadTests that label app selects, two on a page; refuse is its answer to
// a request for one of a name.
func stored(t *testing.T, refuse func(name string) error, tests ...*v1beta1.LoadTest) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	must.Succeed(t, v1beta1.AddToScheme(scheme))
	b := fake.NewClientBuilder().WithScheme(scheme)
	for _, lt := range tests {
		b.WithObjects(lt)
	}
	return b.WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if err := refuse(key.Name); err != nil {
				return err
			}
			return c.Get(ctx, key, o, options...)
		},
		List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(options)
			if o.Namespace != "shop" || o.LabelSelector.String() != "app=shop" || o.FieldSelector.String() != "status.verdict=Passed" || o.Limit == 0 {
				t.Errorf("listed by %+v", o)
			}
			at, list := 0, into.(*metav1.PartialObjectMetadataList)
			if o.Continue != "" {
				at = 2
			}
			list.Items, list.Continue = nil, ""
			for i, lt := range tests[at:] {
				if i == 2 {
					list.Continue = "more"
					break
				}
				list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: lt.ObjectMeta})
			}
			return nil
		},
	}).Build()
}

func selected(t *testing.T, c client.Client) (string, error) {
	t.Helper()
	lt, err := history.Reader{Cached: c, Uncached: c}.Last(t.Context(), "shop", labels.SelectorFromSet(labels.Set{"app": "shop"}))
	if lt == nil {
		return "", err
	}
	return lt.Name, err
}

func all(string) error { return nil }

// The one that finished last is read, on whatever page it is listed.
func TestLastOfSeveralPages(t *testing.T) {
	for want, tests := range map[string][]*v1beta1.LoadTest{
		"nightly-003": {night(3, nil), night(1, nil), night(2, nil)},
		"nightly-004": {night(3, nil), night(1, nil), night(4, nil)},
		"":            nil,
	} {
		got, err := selected(t, stored(t, all, tests...))
		must.Succeed(t, err)
		same.As(t, "what is read", want, got)
	}
}

// A LoadTest that is deleted once it is listed, or between its two reads, leaves the one before it.
func TestLastIsDeletedMeanwhile(t *testing.T) {
	for reads := range 2 {
		left := reads
		got, err := selected(t, stored(t, func(name string) error {
			if name != "nightly-002" {
				return nil
			}
			if left--; left >= 0 {
				return nil
			}
			return notFound(name)
		}, night(1, nil), night(2, nil)))
		must.Succeed(t, err)
		if got != "nightly-001" {
			t.Errorf("after %d reads of the later one: %q is read", reads, got)
		}
	}
}

// An API server that does not answer is an error, and no missing baseline.
func TestLastOfAnAPIServerThatFails(t *testing.T) {
	for reads := range 2 {
		left := reads
		got, err := selected(t, stored(t, func(string) error {
			if left--; left >= 0 {
				return nil
			}
			return errors.New("connection refused")
		}, night(1, nil)))
		if got != "" || err == nil || !strings.Contains(err.Error(), "get LoadTest nightly-001: connection refused") {
			t.Errorf("after %d reads: %q is read, and error %v", reads, got, err)
		}
	}
	refused := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return fmt.Errorf("connection refused")
	}}).Build()
	if _, err := selected(t, refused); err == nil || err.Error() != "list LoadTests with labels app=shop: connection refused" {
		t.Errorf("the error is %v", err)
	}
}

package loadtest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// many lists that many finished LoadTests as an API server does: at version 0 it
// ignores the limit.
func many(n int, longest *int) toolscache.ListerWatcher {
	return &toolscache.ListWatch{ListWithContextFunc: func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
		from, _ := strconv.Atoi(options.Continue)
		to := n
		if options.Limit > 0 && options.ResourceVersion != "0" {
			to = min(n, from+int(options.Limit))
		}
		list := &v1beta1.LoadTestList{}
		if to < n {
			list.Continue = strconv.Itoa(to)
		}
		for i := from; i < to; i++ {
			lt := v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{Requests: []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{Body: strings.Repeat("x", 10)}}}}}
			lt.Name = fmt.Sprint(i)
			lt.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue}}
			list.Items = append(list.Items, lt)
		}
		*longest = max(*longest, to-from)
		return list, nil
	}}
}

// LoadTests are listed in small pages, each of which is stripped, as a reflector lists:
// the first time at version 0, and after a watch that broke at the latest version.
func TestLoadTestsAreListedInPages(t *testing.T) {
	for _, version := range []string{"0", ""} {
		longest := 0
		lw := pages{many(105, &longest), stripLoadTest}
		list, paged, err := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) {
			return lw.ListWithContext(t.Context(), options)
		})).ListWithAlloc(t.Context(), metav1.ListOptions{ResourceVersion: version})
		if err != nil || !paged {
			t.Fatalf("at version %q: in pages: %t, %v", version, paged, err)
		}
		if longest != pageSize {
			t.Errorf("at version %q: a page of %d, want at most %d", version, longest, pageSize)
		}
		listed := 0
		if err := meta.EachListItem(list, func(o runtime.Object) error {
			if lt := o.(*v1beta1.LoadTest); lt.Spec.Requests != nil {
				t.Errorf("LoadTest %s is listed whole", lt.Name)
			}
			listed++
			return nil
		}); err != nil || listed != 105 {
			t.Errorf("at version %q: %d LoadTests, %v; want 105", version, listed, err)
		}
	}
}

// A list that must be in one piece is.
func TestAListInOnePiece(t *testing.T) {
	longest := 0
	list, err := pages{many(105, &longest), stripLoadTest}.ListWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
	if err != nil || len(list.(*v1beta1.LoadTestList).Items) != 105 {
		t.Errorf("%v, want all 105", err)
	}
}

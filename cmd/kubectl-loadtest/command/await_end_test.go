package command

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestStopAwaitsTheEndOfEachRun: runs a and b go on in namespace shop, and are to end.
func TestStopAwaitsTheEndOfEachRun(t *testing.T) {
	run := func(name, uid string) *v1beta1.LoadTest {
		lt := seen(uid, v1beta1.PhaseRunning)
		lt.Name, lt.Status.StartTime = name, &metav1.Time{}
		return lt
	}
	ended := func(name, uid string) *v1beta1.LoadTest {
		lt := run(name, uid)
		lt.Status.Conditions, lt.Status.Verdict = []metav1.Condition{over}, v1beta1.VerdictCanceled
		lt.Status.CompletionTime = &metav1.Time{Time: time.Now().Add(time.Hour)}
		return lt
	}
	long := ended("long", "0")
	long.Status.CompletionTime = &metav1.Time{}
	a, b, a2 := run("a", "1"), run("b", "2"), run("a", "3")
	endA, endB, endA2 := ended("a", "1"), ended("b", "2"), ended("a", "3")
	changed := func(list ...*v1beta1.LoadTest) (events []watch.Event) {
		for _, lt := range list {
			events = append(events, watch.Event{Type: watch.Modified, Object: lt})
		}
		return events
	}
	// What the API server says of a patch if another LoadTest has the name now.
	replaced := apierrors.NewInvalid(v1beta1.GroupVersion.WithKind("LoadTest").GroupKind(), "a", field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), "1", "field is immutable")})
	createdAgain := append([]watch.Event{{Type: watch.Deleted, Object: a}, {Type: watch.Added, Object: a2}}, changed(endA2, endB)...)
	tests := map[string]struct {
		// refused are the errors of the patches of runs, by their UIDs.
		refused map[types.UID]error
		// lists and watches are what the API server answers, one after another.
		lists   [][]*v1beta1.LoadTest
		watches [][]watch.Event
		// told are the UIDs of the runs that were told to end; each line but the last is about a run.
		told, lines string
		wantErr     string
	}{
		"each ends": {
			lists: [][]*v1beta1.LoadTest{{a, b}}, watches: [][]watch.Event{changed(endB, endA)},
			told: "1 2", lines: "b a",
		},
		"the change of one is refused": {
			refused: map[types.UID]error{"1": errors.New("a policy denies it")},
			lists:   [][]*v1beta1.LoadTest{{a, b}},
			told:    "2", wantErr: "end LoadTest shop/a: a policy denies it",
		},
		"one was deleted and created again": {
			refused: map[types.UID]error{"1": replaced},
			lists:   [][]*v1beta1.LoadTest{{a, b}}, watches: [][]watch.Event{createdAgain},
			told: "2 3", lines: "a b",
		},
		"one was deleted": {
			refused: map[types.UID]error{"1": apierrors.NewNotFound(loadtests, "a")},
			lists:   [][]*v1beta1.LoadTest{{a, b}}, watches: [][]watch.Event{append(createdAgain[:1:1], changed(endB)...)},
			told: "2", lines: "b",
		},
		"one changes all the time": {
			refused: map[types.UID]error{"1": apierrors.NewConflict(loadtests, "a", errors.New("it has been modified"))},
			lists:   [][]*v1beta1.LoadTest{{a, b}}, watches: [][]watch.Event{changed(endA, endB)},
			told: "2", lines: "a b",
		},
		"the watch closes when one has ended": {
			lists: [][]*v1beta1.LoadTest{{a, b}, {endA, b}}, watches: [][]watch.Event{changed(endA), changed(endB)},
			told: "1 2", lines: "a b",
		},
		"one ends while there is no watch": {
			lists: [][]*v1beta1.LoadTest{{a, b}, {endA, b}}, watches: [][]watch.Event{nil, changed(endB)},
			told: "1 2", lines: "a b",
		},
		"one that had ended is changed": {
			lists: [][]*v1beta1.LoadTest{{a, long}}, watches: [][]watch.Event{changed(long, endA)},
			told: "1", lines: "a",
		},
	}
	for name, test := range tests {
		t.Run(name, inVirtualTime(func(t *testing.T) {
			var told []string
			api := interceptor.NewClient(nil, interceptor.Funcs{
				List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, _ ...client.ListOption) error {
					list := into.(*v1beta1.LoadTestList)
					for _, lt := range test.lists[0] {
						lt = lt.DeepCopy()
						lt.Spec.Terminate = strings.Contains(strings.Join(told, " "), string(lt.UID))
						list.Items = append(list.Items, *lt)
					}
					test.lists = test.lists[1:]
					return nil
				},
				Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
					w := closing(test.watches[0])
					test.watches = test.watches[1:]
					return w, nil
				},
				Patch: func(_ context.Context, _ client.WithWatch, lt client.Object, _ client.Patch, _ ...client.PatchOption) error {
					err := test.refused[lt.GetUID()]
					if err == nil {
						told = append(told, string(lt.GetUID()))
					}
					return err
				},
			})
			var out strings.Builder
			e := &ending{config: &config{streams: Streams{Out: &out, Err: t.Output()}}, cluster: &cluster{WithWatch: api}, begun: time.Now(), terminates: true}
			err := e.await(t.Context(), time.Minute)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("the error is %v, want %q", err, test.wantErr)
			}
			same.As(t, "the runs that were told to end", test.told, strings.Join(told, " "))
			var lines []string
			for line := range strings.Lines(out.String()) {
				if rest, ok := strings.CutPrefix(line, "LoadTest shop/"); ok {
					name, _, _ := strings.Cut(rest, " ended after ")
					lines = append(lines, name)
				}
			}
			same.As(t, "the runs of which a line was printed", test.lines, strings.Join(lines, " "))
		}))
	}
}

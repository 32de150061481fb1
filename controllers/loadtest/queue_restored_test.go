package loadtest_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

// 200 LoadTests are restored at once, through a cache that is behind: ten run, and the
// others wait in order, each with its place. Another process keeps to the same.
func TestRestoredLoadTestsDoNotAllBegin(t *testing.T) {
	t.Parallel()
	const all, most = 200, 10
	r := newFixture(t, cached(t))
	r.workers.absent, r.Policy = true, tenAtOnce
	r.readPastCache(unhurried{apiserver.Client(t)})
	list := restored(t, all)
	cachedAs(t, r.client, list[all-1], &v1beta1.LoadTest{})
	r.passes(list)
	began, queued := inPhase(list, v1beta1.PhaseStarting), inPhase(list, v1beta1.PhaseQueued)
	if len(began) != most || len(queued) != all-most {
		t.Fatalf("%d begin and %d wait, want %d and %d", len(began), len(queued), most, all-most)
	}
	for _, lt := range queued {
		c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionQueued)
		if want := fmt.Sprintf(" of 190: 10 of 10 runs of namespace %s are under way.", lt.Namespace); c.Reason != v1beta1.ReasonNamespaceRuns || !strings.HasSuffix(c.Message, want) || lt.Status.StartTime != nil {
			t.Fatalf("%s: %s, %s", lt.Name, c.Reason, c.Message)
		}
	}
	again := newFixture(t, cached(t))
	again.workers.absent, again.Policy = true, tenAtOnce
	again.readPastCache(unhurried{apiserver.Client(t)})
	for _, lt := range began {
		cachedAs(t, again.client, lt, &v1beta1.LoadTest{}) // a leader begins some time after the one before
	}
	for range 2 {
		again.passes(list)
		if n := len(inPhase(list, v1beta1.PhaseStarting)); n != most {
			t.Fatalf("another process has %d runs begin, want %d", n, most)
		}
	}
}

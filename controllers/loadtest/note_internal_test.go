package loadtest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetaccess"
)

// An author who edits a run under way, of which the targets cannot change, has nothing forgotten that was seen of them.
func TestAnEditKeepsWhatWasReadOfTheTargetsOfARunUnderWay(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(*v1beta1.LoadTest)
		keeps bool
	}{
		"the spec":              {func(lt *v1beta1.LoadTest) { lt.Generation++ }, true},
		"the spec while held":   {func(lt *v1beta1.LoadTest) { lt.Generation++; lt.Status.StartTime = nil }, false},
		"another of the name":   {func(lt *v1beta1.LoadTest) { lt.UID = "b" }, false},
		"nothing but its state": {func(lt *v1beta1.LoadTest) { lt.Status.StartTime = nil }, true},
	} {
		lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{UID: "a", Generation: 1}, Status: v1beta1.LoadTestStatus{StartTime: &metav1.Time{}}}
		n := &note{}
		n.reset(lt)
		n.lookups.access = &targetaccess.Access{}
		tc.edit(lt)
		n.reset(lt)
		if kept := n.lookups.access != nil; kept != tc.keeps {
			t.Errorf("%s: it is kept: %t", name, kept)
		}
	}
}

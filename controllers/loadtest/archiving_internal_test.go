package loadtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// However often the status that names an archive is tried, the archive is stored once, and
// its size is charged to the write that succeeds.
func TestArchiveIsStoredUntilAStatusNamesIt(t *testing.T) {
	var a archiving
	if a.isStored("hello-0") {
		t.Error("it is stored before it was")
	}
	a.stored = storedArchive{name: "hello-0", configMap: "hello-0-abc", sum: "abc", size: 100}
	for range 2 {
		status := v1beta1.LoadTestStatus{ResultRefs: []v1beta1.ResultRef{{ConfigMap: "earlier", SHA256: "def"}, {ConfigMap: "hello-0"}, {}}}
		a.sign(&status)
		want := []v1beta1.ResultRef{{ConfigMap: "earlier", SHA256: "def"}, {ConfigMap: "hello-0-abc", SHA256: "abc"}, {}}
		if diff := cmp.Diff(want, status.ResultRefs); diff != "" || !a.isStored("hello-0") || a.isStored("hello-1") {
			t.Errorf("stored: %t; the references (-want +got):\n%s", a.isStored("hello-0"), diff)
		}
	}
	if size := a.written(); size != 100 || a.isStored("hello-0") {
		t.Errorf("%d bytes are charged, want 100; still stored: %t", size, a.isStored("hello-0"))
	}
	same.As(t, "bytes that the next write is charged with", 0, a.written())
}

// Tries are counted for each step, and what will never be stored is tried once.
func TestArchiveIsGivenUpAfterItsTries(t *testing.T) {
	var a archiving
	for i, tc := range []struct {
		step      int
		permanent bool
		want      bool
	}{{0, false, false}, {0, false, false}, {1, false, false}, {1, false, false}, {1, false, true}, {2, true, true}} {
		if got := a.failed(tc.step, tc.permanent, 3, "no room"); got != tc.want {
			t.Errorf("try %d, of step %d: given up %t, want %t", i, tc.step, got, tc.want)
		}
		if tc.want && (a.unstored == nil || *a.unstored != lifecycle.Unstored{Step: tc.step, Message: "no room"}) {
			t.Errorf("try %d: given up is %+v, want step %d", i, a.unstored, tc.step)
		}
	}
}

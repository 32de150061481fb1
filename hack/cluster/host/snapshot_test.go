package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestRestoreRemovesTheFoldersThatWereMade(t *testing.T) {
	root := t.TempDir()
	there := filepath.Join(root, "there")
	must.Succeed(t, os.Mkdir(there, 0o755))
	parent, child := filepath.Join(root, "absent"), filepath.Join(root, "absent", "child")
	used := filepath.Join(root, "used")

	snapshot := TakeSnapshot([]string{there, parent, child, used})
	same.As(t, "absent", []string{parent, child, used}, snapshot.Absent)
	must.Succeed(t, snapshot.MakeFolders())
	must.Succeed(t, os.WriteFile(filepath.Join(used, "by another"), nil, 0o644))
	for range 2 { // the second has nothing to do
		must.Succeed(t, (Snapshot{Absent: snapshot.Absent}).Restore())
	}
	left, err := filepath.Glob(filepath.Join(root, "*"))
	must.Succeed(t, err)
	same.As(t, "left", []string{there, used}, left)
}

func TestTheFirstSnapshotStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.json")
	first := Snapshot{Settings: map[string]string{"net.ipv4.ip_forward": "0"}, Absent: []string{"/run/containerd"}}
	second := Snapshot{Settings: map[string]string{"net.ipv4.ip_forward": "1"}}
	for _, snapshot := range []Snapshot{first, second} {
		must.Succeed(t, snapshot.Save(path))
	}
	got, err := LoadSnapshot(path)
	must.Succeed(t, err)
	same.As(t, "snapshot", first, got)
}

func TestBrokenSnapshotsAreErrors(t *testing.T) {
	folder := t.TempDir()
	if got, err := LoadSnapshot(filepath.Join(folder, "none")); err != nil || len(got.Settings)+len(got.Absent) > 0 {
		t.Errorf("without a file: %+v, %v, want nothing", got, err)
	}
	broken := filepath.Join(folder, "broken")
	must.Succeed(t, os.WriteFile(broken, []byte("{"), 0o644))
	if got, err := LoadSnapshot(broken); err == nil {
		t.Errorf("of a broken file: %+v, want an error", got)
	}
}

func TestTakeSnapshotReadsSettings(t *testing.T) {
	got := TakeSnapshot(nil).Settings["kernel.panic"]
	want := read(t, "/proc/sys/kernel/panic")
	if got+"\n" != want {
		t.Errorf("kernel.panic is %q, want %q", got, want)
	}
}

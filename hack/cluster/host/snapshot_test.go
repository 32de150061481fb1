package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRestoreRemovesTheFoldersThatWereMade(t *testing.T) {
	root := t.TempDir()
	there := filepath.Join(root, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	parent, child := filepath.Join(root, "absent"), filepath.Join(root, "absent", "child")
	used := filepath.Join(root, "used")

	snapshot := TakeSnapshot([]string{there, parent, child, used})
	if diff := cmp.Diff([]string{parent, child, used}, snapshot.Absent); diff != "" {
		t.Errorf("absent (-want +got):\n%s", diff)
	}
	if err := snapshot.MakeFolders(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(used, "by another"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second has nothing to do
		if err := (Snapshot{Absent: snapshot.Absent}).Restore(); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{there, used}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

func TestTheFirstSnapshotStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.json")
	first := Snapshot{Settings: map[string]string{"net.ipv4.ip_forward": "0"}, Absent: []string{"/run/containerd"}}
	second := Snapshot{Settings: map[string]string{"net.ipv4.ip_forward": "1"}}
	for _, snapshot := range []Snapshot{first, second} {
		if err := snapshot.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := LoadSnapshot(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, got); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
}

func TestLoadSnapshot(t *testing.T) {
	folder := t.TempDir()
	if got, err := LoadSnapshot(filepath.Join(folder, "none")); err != nil || len(got.Settings)+len(got.Absent) > 0 {
		t.Errorf("without a file: %+v, %v, want nothing", got, err)
	}
	broken := filepath.Join(folder, "broken")
	if err := os.WriteFile(broken, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
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

func TestSettingFile(t *testing.T) {
	if got, want := settingFile("net.ipv4.ip_forward"), "/proc/sys/net/ipv4/ip_forward"; got != want {
		t.Errorf("settingFile = %q, want %q", got, want)
	}
}

package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHierarchies(t *testing.T) {
	v1cpu := mount{Point: "/cg/cpu", Kind: "cgroup", Options: []string{"rw", "cpu"}}
	v1set := mount{Point: "/cg/cpuset", Kind: "cgroup", Options: []string{"rw", "cpuset"}}
	v2 := mount{Point: "/cg/unified", Kind: "cgroup2", Options: []string{"rw"}}
	disk := mount{Point: "/", Kind: "ext4"}
	for name, test := range map[string]struct {
		mounts []mount
		want   []hierarchy
	}{
		"version 1":        {[]mount{disk, v1cpu, v1set}, []hierarchy{{root: "/cg/cpu"}, {root: "/cg/cpuset", cpuset: true}}},
		"version 2":        {[]mount{v2, disk}, []hierarchy{{root: "/cg/unified", unified: true}}},
		"both":             {[]mount{v1cpu, v2}, []hierarchy{{root: "/cg/cpu"}, {root: "/cg/unified"}}},
		"none are mounted": {[]mount{disk}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, hierarchies(test.mounts), cmp.AllowUnexported(hierarchy{})); diff != "" {
				t.Errorf("hierarchies (-want +got):\n%s", diff)
			}
		})
	}
}

func TestControllers(t *testing.T) {
	for available, want := range map[string]string{
		"cpuset cpu memory pids\n": "+cpuset +cpu +memory +pids", "cpu": "+cpu", "\n": "", "": "",
	} {
		if got := controllers(available); got != want {
			t.Errorf("controllers(%q) = %q, want %q", available, got, want)
		}
	}
}

// tree writes files below a folder of the test.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestMakeFillsTheCpusetOfEachLevel(t *testing.T) {
	root := tree(t, map[string]string{"cpuset.cpus": "0-1\n", "cpuset.mems": "0\n"})
	groups := Cgroups{[]hierarchy{{root: root, cpuset: true}, {root: tree(t, nil)}}}
	for range 2 { // a group that is there already is as good
		if err := groups.Make("cluster/node-1"); err != nil {
			t.Fatal(err)
		}
	}
	for _, group := range []string{"cluster", "cluster/node-1"} {
		if got := read(t, root, group, "cpuset.cpus"); got != "0-1\n" {
			t.Errorf("cpus of %s are %q, want its parent's", group, got)
		}
		if got := read(t, root, group, "cpuset.mems"); got != "0\n" {
			t.Errorf("memory nodes of %s are %q, want its parent's", group, got)
		}
	}
}

func TestMakePassesControllersOn(t *testing.T) {
	root := tree(t, map[string]string{
		"cgroup.controllers": "cpu memory\n", "cgroup.subtree_control": "",
		// The kernel makes the files of a group; the test has to.
		"cluster/cgroup.controllers": "cpu memory\n", "cluster/cgroup.subtree_control": "",
	})
	if err := (Cgroups{[]hierarchy{{root: root, unified: true}}}).Make("cluster/node-1"); err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"", "cluster"} {
		if got := read(t, root, group, "cgroup.subtree_control"); got != "+cpu +memory" {
			t.Errorf("%q passes on %q, want all its controllers", group, got)
		}
	}
}

func TestProcessesAreThoseOfAllHierarchiesAndLevels(t *testing.T) {
	groups := Cgroups{[]hierarchy{
		{root: tree(t, map[string]string{"c/cgroup.procs": "10\n", "c/a/cgroup.procs": "30\n20\n", "d/cgroup.procs": "99\n"})},
		{root: tree(t, map[string]string{"c/cgroup.procs": "", "c/b/cgroup.procs": "10\n40\n"})},
		{root: tree(t, nil)},
	}}
	got, err := groups.processes("c")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{10, 20, 30, 40}, got); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
	wrong := Cgroups{[]hierarchy{{root: tree(t, map[string]string{"c/cgroup.procs": "ten\n"})}}}
	if got, err := wrong.processes("c"); err == nil {
		t.Errorf("processes = %v, want an error for what is no number", got)
	}
}

func TestJoinWritesToEveryHierarchy(t *testing.T) {
	first, second := tree(t, map[string]string{"c/cgroup.procs": ""}), tree(t, map[string]string{"c/cgroup.procs": ""})
	groups := Cgroups{[]hierarchy{{root: first}, {root: second}}}
	if err := groups.Join("c", 42); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{first, second} {
		if got := read(t, root, "c/cgroup.procs"); got != "42" {
			t.Errorf("joined %q, want 42", got)
		}
	}
	if err := groups.Join("missing", 42); err == nil || !strings.Contains(err.Error(), "42") {
		t.Errorf("error is %v, want it to name the process", err)
	}
}

func TestRemoveTakesTheDeepestFirst(t *testing.T) {
	root := tree(t, nil)
	for _, folder := range []string{"c/a/deep", "c/b", "other"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	groups := Cgroups{[]hierarchy{{root: root}, {root: tree(t, nil)}}}
	for range 2 { // nothing to remove is as good
		if err := groups.Remove("c"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{root, filepath.Join(root, "other")}, groupsBelow(root)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestHierarchiesOfBothVersionsAreFound(t *testing.T) {
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
			same.As(t, "hierarchies", test.want, hierarchies(test.mounts), cmp.AllowUnexported(hierarchy{}))
		})
	}
}

func TestAvailableControllersAreSwitchedOn(t *testing.T) {
	for available, want := range map[string]string{
		"cpuset cpu memory pids\n": "+cpuset +cpu +memory +pids", "cpu": "+cpu", "\n": "", "": "",
	} {
		same.As(t, fmt.Sprintf("controllers(%q)", available), want, controllers(available))
	}
}

// tree writes files below a folder of the test.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Succeed(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return root
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	content := must.ReadFile(t, filepath.Join(parts...))
	return string(content)
}

func TestMakeFillsTheCpusetOfEachLevel(t *testing.T) {
	root := tree(t, map[string]string{"cpuset.cpus": "0-1\n", "cpuset.mems": "0\n"})
	groups := Cgroups{[]hierarchy{{root: root, cpuset: true}, {root: tree(t, nil)}}}
	for range 2 { // a group that is there already is as good
		must.Succeed(t, groups.Make("cluster/node-1"))
	}
	for _, group := range []string{"cluster", "cluster/node-1"} {
		same.As(t, "cpus of "+group, "0-1\n", read(t, root, group, "cpuset.cpus"))
		same.As(t, "memory nodes of "+group, "0\n", read(t, root, group, "cpuset.mems"))
	}
}

func TestMakePassesControllersOn(t *testing.T) {
	root := tree(t, map[string]string{
		"cgroup.controllers": "cpu memory\n", "cgroup.subtree_control": "",
		// The kernel makes the files of a group; the test has to.
		"cluster/cgroup.controllers": "cpu memory\n", "cluster/cgroup.subtree_control": "",
	})
	must.Succeed(t, (Cgroups{[]hierarchy{{root: root, unified: true}}}).Make("cluster/node-1"))
	for _, group := range []string{"", "cluster"} {
		same.As(t, fmt.Sprintf("%q passes on", group), "+cpu +memory", read(t, root, group, "cgroup.subtree_control"))
	}
}

func TestProcessesAreThoseOfAllHierarchiesAndLevels(t *testing.T) {
	groups := Cgroups{[]hierarchy{
		{root: tree(t, map[string]string{"c/cgroup.procs": "10\n", "c/a/cgroup.procs": "30\n20\n", "d/cgroup.procs": "99\n"})},
		{root: tree(t, map[string]string{"c/cgroup.procs": "", "c/b/cgroup.procs": "10\n40\n"})},
		{root: tree(t, nil)},
	}}
	got, err := groups.processes("c")
	must.Succeed(t, err)
	same.As(t, "processes", []int{10, 20, 30, 40}, got)
	wrong := Cgroups{[]hierarchy{{root: tree(t, map[string]string{"c/cgroup.procs": "ten\n"})}}}
	if got, err := wrong.processes("c"); err == nil {
		t.Errorf("processes = %v, want an error for what is no number", got)
	}
}

func TestJoinWritesToEveryHierarchy(t *testing.T) {
	first, second := tree(t, map[string]string{"c/cgroup.procs": ""}), tree(t, map[string]string{"c/cgroup.procs": ""})
	groups := Cgroups{[]hierarchy{{root: first}, {root: second}}}
	must.Succeed(t, groups.Join("c", 42))
	for _, root := range []string{first, second} {
		same.As(t, "joined", "42", read(t, root, "c/cgroup.procs"))
	}
	if err := groups.Join("missing", 42); err == nil || !strings.Contains(err.Error(), "42") {
		t.Errorf("error is %v, want it to name the process", err)
	}
}

func TestRemoveTakesTheDeepestFirst(t *testing.T) {
	root := tree(t, nil)
	for _, folder := range []string{"c/a/deep", "c/b", "other"} {
		must.Succeed(t, os.MkdirAll(filepath.Join(root, folder), 0o755))
	}
	groups := Cgroups{[]hierarchy{{root: root}, {root: tree(t, nil)}}}
	for range 2 { // nothing to remove is as good
		must.Succeed(t, groups.Remove("c"))
	}
	same.As(t, "left", []string{root, filepath.Join(root, "other")}, groupsBelow(root))
}

// A group of either version is weighed, in the hierarchy that has the controller.
func TestGroupsAreWeighed(t *testing.T) {
	for file, want := range map[string]string{"cpu.shares": "4096", "cpu.weight": "400"} {
		with, without := t.TempDir(), t.TempDir()
		groups := Cgroups{[]hierarchy{{root: without}, {root: with}}}
		must.Succeed(t, groups.Make("cluster/node-1"))
		path := filepath.Join(with, "cluster", "node-1", file)
		must.Succeed(t, os.WriteFile(path, []byte("1"), 0o600))
		must.Succeed(t, groups.Weigh("cluster/node-1", 4))
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %s", file, got, err, want)
		}
		if entries, err := os.ReadDir(filepath.Join(without, "cluster", "node-1")); err != nil || len(entries) != 0 {
			t.Errorf("without the controller, it has %v, %v", entries, err)
		}
	}
}

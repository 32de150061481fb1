package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestFootprintsDifferByWhatCameAndWent(t *testing.T) {
	before := Footprint{"links": {"eth0", "lo"}, "mounts": {"/"}, "cgroups": nil, "processes": {"1 etcd"}}
	after := Footprint{"links": {"lo", "lt-node-1"}, "mounts": {"/"}, "cgroups": {"/sys/fs/cgroup/left"}, "processes": {"2 etcd"}}
	want := []string{"cgroups: + /sys/fs/cgroup/left", "links: + lt-node-1", "links: - eth0", "processes: + 2 etcd"}
	same.As(t, "difference", want, Difference(before, after))
	if same := Difference(before, before); same != nil {
		t.Errorf("a footprint differs from itself: %q", same)
	}
}

func TestLinesLeaveOutIgnoredParts(t *testing.T) {
	const saved = "# Generated at 12:00\n*nat\n:B ACCEPT [1:2]\n:A ACCEPT [34:5]\n\nCOMMIT\n"
	got := lines([]byte(saved), regexp.MustCompile(`^#.*|\[\d+:\d+\]`))
	same.As(t, "lines", []string{"*nat", ":A ACCEPT", ":B ACCEPT", "COMMIT"}, got)
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Succeed(t, os.WriteFile(path, []byte(content), 0o644))
}

func TestProcessesAreThoseOfTheClustersPrograms(t *testing.T) {
	proc := t.TempDir()
	write(t, proc, "10/stat", "10 (etcd) S 1 10 10")
	write(t, proc, "11/stat", "11 (bash) S 1 11 11")
	write(t, proc, "12/stat", "12 (containerd-shim) S 1 10 10")
	write(t, proc, "13/stat", "13 (kubelet) Z 1 13 13")
	write(t, proc, "self/stat", "14 (etcd) S 1 14 14")
	same.As(t, "processes", []string{"10 etcd", "12 containerd-shim"}, processes(proc))
}

// unrelatedProcess starts a process under the name of one of the cluster's programs, and
// returns it as a footprint shows it.
func unrelatedProcess(t *testing.T) string {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	must.Succeed(t, err)
	const name = "etcd"
	program := filepath.Join(t.TempDir(), name)
	must.Succeed(t, os.Symlink(sleep, program))
	command := exec.Command(program, "1d")
	must.Succeed(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // it was killed
	})
	return fmt.Sprintf("%d %s", command.Process.Pid, name)
}

func TestProcessesShowOtherProcessesOfTheSameName(t *testing.T) {
	if line := unrelatedProcess(t); !slices.Contains(processes("/proc"), line) {
		t.Errorf("%s is missing", line)
	}
}

func TestEmptyGroupsAreThoseWithoutProcesses(t *testing.T) {
	root := t.TempDir()
	write(t, root, "cgroup.procs", "1\n")
	write(t, root, "used/cgroup.procs", "10\n")
	write(t, root, "left/cgroup.procs", "")
	write(t, root, "left/pod/cgroup.procs", "")
	write(t, root, "no group/file", "")
	want := []string{filepath.Join(root, "left"), filepath.Join(root, "left", "pod")}
	same.As(t, "groups", want, emptyGroups(root))
}

func TestSettingsAndFoldersAreInTheFootprint(t *testing.T) {
	root := t.TempDir()
	write(t, root, "net/ip_forward", "1\n")
	write(t, root, "kernel/random/uuid", "differs each time\n")
	same.As(t, "values", []string{root + "/net/ip_forward = 1"}, values([]string{root}))
	same.As(t, "entries", []string{root + "/kernel", root + "/net"}, entries([]string{root, root + "/none"}))
}

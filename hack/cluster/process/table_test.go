package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

// fake makes a process file system with the given processes.
type fake struct {
	environ string
	name    string
	session int
	flags   int
}

func procOf(t *testing.T, processes map[int]fake) string {
	t.Helper()
	proc := t.TempDir()
	write := func(path, content string) {
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Succeed(t, os.WriteFile(path, []byte(content), 0o644))
	}
	for pid, p := range processes {
		folder := filepath.Join(proc, strconv.Itoa(pid))
		write(filepath.Join(folder, "environ"), p.environ)
		write(filepath.Join(folder, "stat"), fmt.Sprintf("%d (%s) S 1 %d %d 0 -1 %d", pid, p.name, p.session, p.session, p.flags))
	}
	write(filepath.Join(proc, "uptime"), "1 1") // not every entry is a process
	return proc
}

func TestListFindsTheClustersProcesses(t *testing.T) {
	marked := func(owner, name string) string {
		return "PATH=/bin\x00" + Table{Owner: owner}.variable(name) + "\x00HOME=/\x00"
	}
	table := Table{Owner: "/state", Proc: procOf(t, map[int]fake{
		10: {marked("/state", "node-1/containerd"), "containerd", 10, 0},
		12: {marked("/state", "node-1/containerd"), "containerd-shim", 10, 0},
		11: {marked("/state", "node-1/containerd"), "containerd-shim", 10, 0},
		20: {marked("/state", "etcd"), "etcd (a) b", 20, 0},
		30: {marked("/state-of-another", "etcd"), "etcd", 30, 0},
		31: {marked("/other", "etcd"), "etcd", 31, 0},
		40: {"PATH=/bin\x00", "bash", 40, 0},
		41: {"", "kthreadd", 0, kernelThread},
		42: {"", "without environment", 42, 0},
	})}
	got, err := table.List()
	must.Succeed(t, err)
	want := []Process{
		{PID: 20, Name: "etcd", Leader: true},
		{PID: 10, Name: "node-1/containerd", Leader: true},
		{PID: 11, Name: "node-1/containerd"},
		{PID: 12, Name: "node-1/containerd"},
	}
	same.As(t, "List", want, got)
	leaders, err := table.Leaders()
	must.Succeed(t, err)
	same.As(t, "Leaders", map[string]Process{"etcd": want[0], "node-1/containerd": want[1]}, leaders)
}

func TestProcessesAreNamedByTheirMark(t *testing.T) {
	for name, test := range map[string]struct {
		environ string
		want    string
		ok      bool
	}{
		"first":                   {mark + "=/s\x1fetcd\x00A=b\x00", "etcd", true},
		"last, without its zero":  {"A=b\x00" + mark + "=/s\x1fetcd", "etcd", true},
		"name with a slash":       {mark + "=/s\x1fnode-1/kubelet\x00", "node-1/kubelet", true},
		"another owner":           {mark + "=/t\x1fetcd\x00", "", false},
		"owner is only a prefix":  {mark + "=/s/deeper\x1fetcd\x00", "", false},
		"mark in another's value": {"A=" + mark + "=/s\x1fetcd\x00", "", false},
		"none":                    {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := nameOf([]byte(test.environ), "/s")
			if got != test.want || ok != test.ok {
				t.Errorf("nameOf(%q) = %q, %t, want %q, %t", test.environ, got, ok, test.want, test.ok)
			}
		})
	}
}

func TestStatIsReadWhateverTheName(t *testing.T) {
	for line, want := range map[string]stat{
		"7 (etcd) S 1 5 3 0 -1 4194304 9 9":        {state: "S", session: 3, flags: 4194304},
		"7 (a) b) c) R 1 5 42 0 -1 0":              {state: "R", session: 42},
		"7 (with space (and more)) Z 1 5 9 0 -1 4": {state: "Z", session: 9, flags: 4},
	} {
		got, err := parseStat(line)
		if err != nil {
			t.Errorf("parseStat(%q): %v", line, err)
		}
		same.As(t, fmt.Sprintf("parseStat(%q)", line), want, got, cmp.AllowUnexported(stat{}))
	}
	for _, line := range []string{
		"", "7 etcd S 1 5 3 0 -1 0", "7 (etcd) S 1 5 3 0 -1", "7 (etcd) S 1 5 x 0 -1 0", "7 (etcd) S 1 5 3 0 -1 x",
	} {
		if got, err := parseStat(line); err == nil {
			t.Errorf("parseStat(%q) = %+v, want an error", line, got)
		}
	}
}

func TestReadOfEnvironments(t *testing.T) {
	for name, test := range map[string]struct {
		stat stat
		want bool
	}{
		"a process":           {stat{state: "S", session: 1}, true},
		"one that has ended":  {stat{state: "Z", session: 1}, false},
		"one that is removed": {stat{state: "X", session: 1}, false},
		"a kernel thread":     {stat{state: "S", flags: kernelThread | 64}, false},
	} {
		t.Run(name, func(t *testing.T) {
			same.As(t, "hasEnvironment", test.want, test.stat.hasEnvironment())
		})
	}
}

func TestMemoryIsTheProportionalShare(t *testing.T) {
	const rollup = "00400000-7ff0 ---p 00000000 00:00 0 [rollup]\nRss:  9000 kB\nPss:  2048 kB\nPss_Dirty:  10 kB\n"
	if got, err := proportional(strings.NewReader(rollup)); err != nil || got != 2<<20 {
		t.Errorf("proportional = %d, %v, want 2 MiB", got, err)
	}
	for _, wrong := range []string{"", "Rss: 1 kB\n", "Pss: many kB\n"} {
		if got, err := proportional(strings.NewReader(wrong)); err == nil {
			t.Errorf("proportional(%q) = %d, want an error", wrong, got)
		}
	}
}

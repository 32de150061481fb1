package health

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const (
	unified  = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	separate = "33 32 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct\n" +
		"34 32 0:30 / /sys/fs/cgroup/cpuset rw shared:12 - cgroup cgroup rw,cpuset\n"
)

func TestStatFilesOfBothVersions(t *testing.T) {
	tests := map[string]struct {
		groups, mounts string
		want           []string
	}{
		"version 2 on a node": {
			"0::/kubepods/pod1/abc\n", unified,
			[]string{"/sys/fs/cgroup/kubepods/pod1/abc/cpu.stat", "/sys/fs/cgroup/kubepods/pod1/cpu.stat", "/sys/fs/cgroup/kubepods/cpu.stat", "/sys/fs/cgroup/cpu.stat"},
		},
		"version 2 in a container": {
			"0::/\n", unified,
			[]string{"/sys/fs/cgroup/cpu.stat"},
		},
		"version 1 on a node": {
			"5:cpuset:/x\n4:cpu,cpuacct:/kubepods/abc\n1:name=systemd:/init\n", separate,
			[]string{"/sys/fs/cgroup/cpu,cpuacct/kubepods/abc/cpu.stat", "/sys/fs/cgroup/cpu,cpuacct/kubepods/cpu.stat", "/sys/fs/cgroup/cpu,cpuacct/cpu.stat"},
		},
		"version 1 in a container, mounted from its own group": {
			"4:cpu,cpuacct:/kubepods/abc\n", "33 32 0:29 /kubepods/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpuacct,cpu\n",
			[]string{"/sys/fs/cgroup/cpu/cpu.stat"},
		},
		"mounted from another group": {
			"4:cpu:/kubepods/abcdef\n", "33 32 0:29 /kubepods/abc /cg rw - cgroup cgroup rw,cpu\n",
			[]string{"/cg/cpu.stat"},
		},
		"both, the first with the processor": {
			"4:cpu:/a\n0::/b\n", separate + unified,
			[]string{"/sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "/sys/fs/cgroup/cpu,cpuacct/cpu.stat", "/sys/fs/cgroup/b/cpu.stat", "/sys/fs/cgroup/cpu.stat"},
		},
		"outside its namespace": {
			"0::/../../other\n", unified,
			[]string{"/sys/fs/cgroup/other/cpu.stat", "/sys/fs/cgroup/cpu.stat"},
		},
		"a name with colons, as systemd's driver gives them": {
			"0::/pod.slice/cri:containerd:abc\n", unified,
			[]string{"/sys/fs/cgroup/pod.slice/cri:containerd:abc/cpu.stat", "/sys/fs/cgroup/pod.slice/cpu.stat", "/sys/fs/cgroup/cpu.stat"},
		},
		"after lines that say nothing": {
			"nonsense\n0::/a\n", "36 35 0:5 / / rw\n30 23 - cgroup2 cgroup2 rw\n30 23 0:26 / /cut - cgroup2\n" + unified,
			[]string{"/sys/fs/cgroup/a/cpu.stat", "/sys/fs/cgroup/cpu.stat"},
		},
		"the first of version 1, without a controller": {"0:cpu:/a\n1::/b\n", unified, nil},
		"a mount without options":                      {"0::/\n", "30 23 0:26 / /cg - cgroup2 cgroup2 rw\n", []string{"/cg/cpu.stat"}},
		"no control groups":                            {"", unified, nil},
		"none that are mounted":                        {"0::/\n", "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n", nil},
		"lines of another kind":                        {"nonsense\n0:/\n", unified, nil},
		"mounts that are cut short":                    {"0::/\n", "30 23 - cgroup2\n30 - \n", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "files", tt.want, statFiles(tt.groups, tt.mounts))
		})
	}
}

func TestThrottledParsesBothVersions(t *testing.T) {
	tests := map[string]struct {
		stat string
		want time.Duration
		ok   bool
	}{
		"version 2":            {"usage_usec 5\nnr_periods 3\nnr_throttled 1\nthrottled_usec 2500\nnr_bursts 0\n", 2500 * time.Microsecond, true},
		"version 1":            {"nr_periods 3\nnr_throttled 1\nthrottled_time 2500\n", 2500 * time.Nanosecond, true},
		"after other lines":    {"usage_usec many\nthrottled_usec 1\n", time.Microsecond, true},
		"never":                {"throttled_usec 0\n", 0, true},
		"without a bound":      {"usage_usec 5\nuser_usec 3\n", 0, false},
		"nothing":              {"", 0, false},
		"what is no number":    {"throttled_usec many\n", 0, false},
		"what cannot be":       {"throttled_usec -1\n", 0, false},
		"a name that is alike": {"throttled_usec_total 7\n", 0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ok := throttled(tt.stat); got != tt.want || ok != tt.ok {
				t.Errorf("throttled = %v, %v; want %v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

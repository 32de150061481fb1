package health

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLimitFiles(t *testing.T) {
	const apart = "34 32 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	tests := map[string]struct {
		groups, mounts string
		want           []string
	}{
		"version 2 on a node": {
			"0::/kubepods/abc\n", unified,
			[]string{"/sys/fs/cgroup/kubepods/abc/memory.max", "/sys/fs/cgroup/kubepods/memory.max", "/sys/fs/cgroup/memory.max"},
		},
		"version 2 in a container": {"0::/\n", unified, []string{"/sys/fs/cgroup/memory.max"}},
		"version 1": {
			"5:memory:/abc\n4:cpu,cpuacct:/abc\n", apart + separate,
			[]string{"/sys/fs/cgroup/memory/abc/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
		},
		"both": {
			"5:memory:/abc\n0::/\n", apart + unified,
			[]string{"/sys/fs/cgroup/memory/abc/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max"},
		},
		"none of memory": {"4:cpu:/abc\n", separate, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, limitFiles(tt.groups, tt.mounts)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMemoryMax(t *testing.T) {
	for text, want := range map[string]int64{
		"134217728\n":           134217728,
		"max\n":                 0, // version 2
		"9223372036854771712\n": 0, // version 1
		"-1\n":                  0,
		"":                      0,
		"many":                  0,
	} {
		if got := memoryMax(text); got != want {
			t.Errorf("memoryMax(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestPhysical(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:       24684092 kB\nMemFree:        15620764 kB\n": 24684092 << 10,
		"MemFree:        15620764 kB\n":                              0,
		"MemTotal: many kB\n":                                        0,
		"MemTotal: -1 kB\n":                                          0,
		"MemTotal:\n":                                                0,
		"":                                                           0,
	} {
		if got := physical(text); got != want {
			t.Errorf("physical(%q) = %d, want %d", text, got, want)
		}
	}
}

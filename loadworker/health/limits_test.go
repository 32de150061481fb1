package health

import (
	"io/fs"
	"maps"
	"runtime"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLimitFilesOfBothVersions(t *testing.T) {
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
			same.As(t, "files", tt.want, limitFiles(tt.groups, tt.mounts))
		})
	}
}

// files returns a system with these files only, by name.
func files(texts map[string]string) readFile {
	return func(name string) ([]byte, error) {
		if text, ok := texts[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
}

// The lowest limit of all groups counts. A group without one bounds nothing.
func TestMemoryLimitIsTheLowest(t *testing.T) {
	const own, around = "/sys/fs/cgroup/pod/abc/memory.max", "/sys/fs/cgroup/pod/memory.max"
	tests := map[string]struct {
		said map[string]string
		want int64
	}{
		"the machine's":             {map[string]string{memoryFile: "MemTotal: 4 kB\n"}, 4096},
		"less, of the group":        {map[string]string{memoryFile: "MemTotal: 4 kB\n", own: "1000\n"}, 1000},
		"less, of one around it":    {map[string]string{memoryFile: "MemTotal: 4 kB\n", own: "max\n", around: "1000\n"}, 1000},
		"the least of both":         {map[string]string{own: "1000\n", around: "2000\n"}, 1000},
		"more than the machine has": {map[string]string{memoryFile: "MemTotal: 4 kB\n", own: "5000\n"}, 4096},
		"a limit of the group only": {map[string]string{around: "1000\n"}, 1000},
		"no limit":                  {nil, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			said := map[string]string{groupsFile: "0::/pod/abc\n", mountsFile: unified}
			maps.Copy(said, tt.said)
			if got := memoryLimit(files(said)); got != tt.want {
				t.Errorf("memory limit %d, want %d", got, tt.want)
			}
		})
	}
}

func TestMemoryMaxParsesBothVersions(t *testing.T) {
	for text, want := range map[string]int64{
		"134217728\n":           134217728,
		"max\n":                 0, // version 2
		"9223372036854771712\n": 0, // version 1
		"1152921504606846975\n": 1<<60 - 1,
		"1152921504606846976\n": 0,
		"-1\n":                  0,
		"":                      0,
		"many":                  0,
	} {
		if got := memoryMax(text); got != want {
			t.Errorf("memoryMax(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestPhysicalParsesMeminfo(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:       24684092 kB\nMemFree:        15620764 kB\n": 24684092 << 10,
		"MemFree:        15620764 kB\n":                              0,
		"Total of all: 7\nMemTotal: 8 kB\n":                          8 << 10,
		"MemTotal: 1 kB\n":                                           1 << 10,
		"MemTotal: 1125899906842623 kB\n":                            (1<<50 - 1) << 10,
		"MemTotal: 1125899906842624 kB\n":                            0,
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

func TestPortsInARange(t *testing.T) {
	for text, want := range map[string]int64{
		"32768\t60999\n": 28232,
		"1024 1024":      1,
		"1025 1024":      Unlimited, // which no kernel says
		"32768":          Unlimited,
		"many more":      Unlimited,
		"":               Unlimited, // there is no such file
	} {
		if got := portsIn(text); got != want {
			t.Errorf("%q are %d ports, want %d", text, got, want)
		}
	}
}

func TestSystemLimitsOfThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limits of memory and ports are read from /proc")
	}
	l := SystemLimits()
	if l.Memory < 1<<20 || l.Memory >= 1<<60 || l.Ports < 1 || l.Ports >= 1<<16 || l.Descriptors < 1 {
		t.Errorf("SystemLimits() = %+v, want more than a megabyte, ports and descriptors", l)
	}
}

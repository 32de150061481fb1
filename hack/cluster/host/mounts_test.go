package host

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestMountsAreRead(t *testing.T) {
	const table = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
30 22 0:26 / /sys/fs/cgroup/cpuset rw,nosuid shared:9 master:2 - cgroup cgroup rw,cpuset
31 22 0:27 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate
32 22 0:28 / /mnt/with\040blank\134and\011tab rw - tmpfs tmpfs rw
`
	want := []mount{
		{Point: "/", Kind: "ext4", Options: []string{"rw", "discard"}},
		{Point: "/sys/fs/cgroup/cpuset", Kind: "cgroup", Options: []string{"rw", "cpuset"}},
		{Point: "/sys/fs/cgroup/unified", Kind: "cgroup2", Options: []string{"rw", "nsdelegate"}},
		{Point: "/mnt/with blank\\and\ttab", Kind: "tmpfs", Options: []string{"rw"}},
	}
	got, err := parseMounts(table)
	must.Succeed(t, err)
	same.As(t, "mounts", want, got)
}

func TestParseMountsRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, line := range map[string]string{
		"no dash":            "22 1 254:0 / / rw,relatime ext4 /dev/vda rw",
		"too short a head":   "22 1 254:0 / - ext4 /dev/vda rw",
		"no options at last": "22 1 254:0 / / rw - ext4 /dev/vda",
		"empty line":         "\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parseMounts(line); err == nil {
				t.Errorf("parseMounts(%q) = %+v, want an error", line, got)
			}
		})
	}
}

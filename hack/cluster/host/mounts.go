package host

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// mountTable is the kernel's list of this process's mounts.
const mountTable = "/proc/self/mountinfo"

// mount is one line of the table.
type mount struct {
	Point   string
	Kind    string
	Options []string // of the file system: the controllers of a cgroup v1 hierarchy
}

func readMounts() ([]mount, error) {
	content, err := os.ReadFile(mountTable)
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	return parseMounts(string(content))
}

// parseMounts reads lines such as
//
//	36 35 98:0 /root /mnt/point rw,noatime shared:1 - ext4 /dev/sda rw
//
// in which optional fields end at the dash.
func parseMounts(table string) ([]mount, error) {
	var mounts []mount
	for line := range strings.Lines(table) {
		before, after, found := strings.Cut(line, " - ")
		head, rest := strings.Fields(before), strings.Fields(after)
		if !found || len(head) < 6 || len(rest) < 3 {
			return nil, fmt.Errorf("parse mounts: unknown line %q", line)
		}
		mounts = append(mounts, mount{
			Point:   unescape(head[4]),
			Kind:    rest[0],
			Options: strings.Split(rest[2], ","),
		})
	}
	return mounts, nil
}

// unescape undoes the kernel's octal escapes of blanks and backslashes.
func unescape(path string) string {
	var plain strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+3 < len(path) {
			if code, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				plain.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		plain.WriteByte(path[i])
	}
	return plain.String()
}

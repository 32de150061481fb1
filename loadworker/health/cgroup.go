package health

import (
	"path"
	"strconv"
	"strings"
	"time"
)

// The files of Linux that list the control groups of this process, and the mounts of
// control groups.
const (
	groupsFile = "/proc/self/cgroup"
	mountsFile = "/proc/self/mountinfo"
)

// readFile reads a whole file, as os.ReadFile does.
type readFile func(name string) ([]byte, error)

// statFiles returns the files that may report the throttling of this process, the
// likeliest first, from the texts of groupsFile and mountsFile.
func statFiles(groups, mounts string) []string {
	return groupFiles(groups, mounts, "cpu", func(bool) string { return "cpu.stat" })
}

// groupFiles returns the files of a name, which may depend on the version of control
// groups, in the groups of this process: in its own first, then in the groups around
// it.
//
// In version 1, the path of a container's group is that on the node, which does not
// exist in the container; its own group is where the controller is mounted. In version
// 2, or with a namespace, the path begins at the mount.
func groupFiles(groups, mounts, controller string, name func(unified bool) string) []string {
	var files []string
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		unified := fields[0] == "0" && fields[1] == ""
		if !unified && !contains(fields[1], controller) {
			continue
		}
		for _, m := range groupMounts(mounts, controller, unified) {
			inside, ok := below(fields[2], m.root)
			if !ok {
				inside = "/"
			}
			for inside = path.Clean("/" + inside); inside != "/"; inside = path.Dir(inside) {
				files = append(files, path.Join(m.point, inside, name(unified)))
			}
			files = append(files, path.Join(m.point, name(unified)))
		}
	}
	return files
}

// groupMount is a mount of control groups: the group root is at point.
type groupMount struct{ root, point string }

// groupMounts returns the mounts of version 2, or those of a controller of version 1.
func groupMounts(mounts, controller string, unified bool) []groupMount {
	var found []groupMount
	for line := range strings.Lines(mounts) {
		// 36 35 98:0 /root /point options - type source options
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		mount, source := strings.Fields(before), strings.Fields(after)
		if !ok || len(mount) < 5 || len(source) < 3 {
			continue
		}
		if unified && source[0] == "cgroup2" || !unified && source[0] == "cgroup" && contains(source[2], controller) {
			found = append(found, groupMount{root: mount[3], point: mount[4]})
		}
	}
	return found
}

func contains(list, name string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item == name {
			return true
		}
	}
	return false
}

// below returns the path from a root to a name in it; ok is false if it is not in it.
func below(name, root string) (string, bool) {
	if root == "/" {
		return name, true
	}
	rest, ok := strings.CutPrefix(name, root)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// throttled parses from a cpu.stat how long the group was throttled. ok is false when
// that is missing, as in a group without a limit.
func throttled(stat string) (d time.Duration, ok bool) {
	for line := range strings.Lines(stat) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			continue
		}
		switch name {
		case "throttled_usec": // version 2
			return time.Duration(n) * time.Microsecond, true
		case "throttled_time": // version 1
			return time.Duration(n), true
		}
	}
	return 0, false
}

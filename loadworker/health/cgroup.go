package health

import (
	"path"
	"strconv"
	"strings"
	"time"
)

// Where Linux says in which control groups a process is, and where those stand.
const (
	groupsFile = "/proc/self/cgroup"
	mountsFile = "/proc/self/mountinfo"
)

// readFile reads a whole file, as os.ReadFile does.
type readFile func(name string) ([]byte, error)

// statFiles are the files that may tell of this process's throttling, the likeliest
// first, given the text of groupsFile and mountsFile.
func statFiles(groups, mounts string) []string {
	return groupFiles(groups, mounts, "cpu", func(bool) string { return "cpu.stat" })
}

// groupFiles are the files of a name, which may depend on the version, in the
// groups that hold this process: its own first, then those around it.
//
// In version 1 a container sees the path of its group on the node, which does not
// exist in it, and its own group where the controller is mounted; in version 2, or
// with a namespace, the path is the one to go from there.
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

// groupMount is a place where control groups are mounted, from root on.
type groupMount struct{ root, point string }

// groupMounts finds the mounts of version 2, or those of a controller of version 1.
func groupMounts(mounts, controller string, unified bool) []groupMount {
	var found []groupMount
	for line := range strings.Lines(mounts) {
		// 36 35 98:0 /root /point options - type source options
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		place, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(place) < 5 || len(kind) < 3 {
			continue
		}
		if unified && kind[0] == "cgroup2" || !unified && kind[0] == "cgroup" && contains(kind[2], controller) {
			found = append(found, groupMount{root: place[3], point: place[4]})
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

// below is the way from a root to a path in it.
func below(name, root string) (string, bool) {
	if root == "/" {
		return name, true
	}
	rest, ok := strings.CutPrefix(name, root)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// throttled reads from a cpu.stat how long the group was held back. ok is false
// when it does not say, as when nothing bounds the group.
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

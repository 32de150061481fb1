package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

// own are the folders that containerd, the kubelet and CNI plugins use at a
// fixed place, whatever their configuration says. Each node sees a folder of
// its own there: two kubelets with one folder for device plugins would remove
// each other's socket while they start.
func own(n layout.Node) map[string]string {
	return map[string]string{
		"/run/containerd":     n.Run + "/shims",      // sockets
		"/var/lib/cni":        n.Path("attachments"), // what libcni remembers of pods
		"/var/lib/kubelet":    n.Path("kubelet"),     // device plugins
		"/var/log/containers": n.Path("log-links"),
	}
}

// FixedFolders are those places. They have to be there, empty or not.
func FixedFolders() []string { return slices.Sorted(maps.Keys(own(layout.Node{}))) }

// unshared is the command that runs a program in a mount namespace of its own,
// with the node's folders in their places. Mounts made in it do not show on the
// host, and go away with the last process of the node.
func unshared(n layout.Node, program string, args ...string) []string {
	var script strings.Builder
	script.WriteString("set -e\n")
	folders := own(n)
	for _, place := range FixedFolders() {
		fmt.Fprintf(&script, "mount --bind %s %s\n", quote(folders[place]), place)
	}
	// As on a node of its own, so that a volume can be passed on to other pods.
	script.WriteString("mount --make-rshared /\n")
	script.WriteString(`exec "$@"` + "\n")
	return append([]string{"unshare", "--mount", "sh", "-c", script.String(), "sh", program}, args...)
}

// entered is the command that runs a program in the mount namespace of a process.
func entered(pid int, program string, args ...string) []string {
	return append([]string{"nsenter", fmt.Sprintf("--mount=/proc/%d/ns/mnt", pid), "--", program}, args...)
}

// quote makes one word of a text for the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

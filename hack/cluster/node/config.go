package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/host"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

// PauseImage is the image of the process that holds a pod's namespaces.
const PauseImage = "loadtest.dev/pause:cluster"

// containerdConfig keeps the node's containerd to the node's folders.
//
// restrict_oom_score_adj: in a container or a small virtual machine root may
// not lower OOM scores, and runc would fail on the pod sandbox's.
func containerdConfig(n layout.Node) string {
	return fmt.Sprintf(`version = 2
root = %[1]q
state = %[2]q
oom_score = 0
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.tracing.processor.v1.otlp"]

[grpc]
  address = %[3]q

[plugins."io.containerd.internal.v1.opt"]
  path = %[4]q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %[5]q
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %[6]q
    conf_dir = %[7]q

  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      Root = %[8]q
      SystemdCgroup = false
`,
		n.Path("containerd"), n.Run+"/containerd", n.Socket(), n.Path("opt"),
		PauseImage, host.PluginFolder, n.Path("cni"), n.Run+"/runc")
}

// networkConfig plugs pods into the node's bridge. Masquerading is off, so
// that pods of all nodes see each other's real addresses; portmap serves pods
// with a hostPort.
func networkConfig(n layout.Node) ([]byte, error) {
	return json.MarshalIndent(map[string]any{
		"cniVersion": "1.0.0",
		"name":       "loadtest",
		"plugins": []any{
			map[string]any{
				"type":        "bridge",
				"bridge":      layout.NodeBridge(n.Number),
				"isGateway":   true,
				"hairpinMode": true,
				"ipMasq":      false,
				"ipam": map[string]any{
					"type":    "host-local",
					"dataDir": n.Path("addresses"),
					"ranges":  []any{[]any{map[string]any{"subnet": layout.NodeRange(n.Number)}}},
					"routes":  []any{map[string]any{"dst": "0.0.0.0/0"}},
				},
			},
			map[string]any{"type": "portmap", "capabilities": map[string]any{"portMappings": true}},
		},
	}, "", "  ")
}

// kubeletConfig is the configuration file of the node's kubelet.
func kubeletConfig(l layout.Layout, n layout.Node) ([]byte, error) {
	return yaml.Marshal(map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1",
		"kind":       "KubeletConfiguration",

		"address":            layout.NodeAddress(n.Number),
		"port":               layout.KubeletPort,
		"healthzBindAddress": layout.NodeAddress(n.Number),
		"healthzPort":        layout.KubeletHealthPort,
		"tlsCertFile":        l.Secret(n.Name() + ".crt"),
		"tlsPrivateKeyFile":  l.Secret(n.Name() + ".key"),
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": true},
			"x509":      map[string]any{"clientCAFile": l.Secret("ca.crt")},
		},
		"authorization": map[string]any{"mode": "Webhook"},

		"containerRuntimeEndpoint": "unix://" + n.Socket(),
		"podLogsDir":               n.Path("pod-logs"),
		"volumePluginDir":          n.Path("volume-plugins"),
		"staticPodPath":            "",
		"resolvConf":               l.Config("resolv.conf"),
		"clusterDNS":               []string{layout.DNSService},
		"clusterDomain":            layout.DNSDomain,

		// The host may have version 1 of control groups, and swap.
		"cgroupDriver":           "cgroupfs",
		"cgroupRoot":             "/" + n.Cgroup(),
		"failCgroupV1":           false,
		"failSwapOn":             false,
		"oomScoreAdj":            0, // the default is lower than the caller may set
		"protectKernelDefaults":  false,
		"makeIPTablesUtilChains": false, // kube-proxy makes what is needed

		// A lease is renewed each quarter of its duration, here 2 s: the
		// controller manager calls a node lost after 10 s without.
		"nodeLeaseDurationSeconds":  8,
		"nodeStatusUpdateFrequency": "2s",
		"nodeStatusReportFrequency": "1m",

		// An image that was removed could not be pulled again, and a disk
		// that is merely full of other things must not stop pods.
		"imageGCHighThresholdPercent": 100,
		"evictionHard": map[string]string{
			"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%", "nodefs.inodesFree": "1%",
		},

		"maxPods":                                   100,
		"registerWithTaints":                        []any{},
		"serializeImagePulls":                       false,
		"seccompDefault":                            true,
		"shutdownGracePeriod":                       "0s",
		"enableDebuggingHandlers":                   true, // kubectl logs and exec
		"syncFrequency":                             "10s",
		"configMapAndSecretChangeDetectionStrategy": "Watch",
	})
}

// kubeletArgs are what the kubelet takes as flags only.
func kubeletArgs(l layout.Layout, n layout.Node) []string {
	return []string{
		"--config=" + n.Path("kubelet.yaml"),
		"--kubeconfig=" + l.Kubeconfig(n.Name()),
		"--root-dir=" + n.Path("kubelet"),
		"--cert-dir=" + n.Path("kubelet/pki"),
		"--hostname-override=" + n.Name(),
		"--node-ip=" + layout.NodeAddress(n.Number),
		"--v=1",
	}
}

// own are the folders at paths that containerd, the kubelet and CNI plugins use
// whatever their configuration is. Each node has a folder of its own there: two kubelets with one folder for device plugins would remove
// each other's socket while they start.
func own(n layout.Node) map[string]string {
	return map[string]string{
		"/run/containerd":     n.Run + "/shims",      // sockets
		"/var/lib/cni":        n.Path("attachments"), // libcni's records of pods
		"/var/lib/kubelet":    n.Path("kubelet"),     // device plugins
		"/var/log/containers": n.Path("log-links"),
	}
}

// FixedFolders are those paths. They must exist, empty or not.
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

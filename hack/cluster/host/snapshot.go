package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// settings are the kernel settings that the cluster or its components change.
// Those of a single link are not among them: they go with the link.
var settings = []string{
	"net.ipv4.ip_forward", // ours, and the bridge plugin's
	"net.bridge.bridge-nf-call-iptables",
	"net.ipv4.conf.all.route_localnet", // kube-proxy's
	"vm.overcommit_memory",             // the kubelet's, from here on
	"vm.panic_on_oom",
	"kernel.panic",
	"kernel.panic_on_oops",
	"kernel.keys.root_maxkeys",
	"kernel.keys.root_maxbytes",
}

// folders are those outside our own that components make at a fixed place,
// whatever their configuration says, each with the file that shows that
// somebody else has come to use it since.
var folders = map[string]string{
	"/run/containerd":     "containerd.sock", // sockets of the shims
	"/var/lib/cni":        "networks",        // what libcni remembers of pods
	"/var/lib/kubelet":    "config.yaml",     // the socket of device plugins
	"/var/log/containers": "*",               // links to pod logs
}

// Snapshot is what the host was like before the cluster.
type Snapshot struct {
	// Settings are the values of kernel settings.
	Settings map[string]string `json:"settings"`
	// Absent are folders that were not there.
	Absent []string `json:"absent"`
}

// TakeSnapshot looks at the host.
func TakeSnapshot() Snapshot {
	snapshot := Snapshot{Settings: map[string]string{}}
	for _, name := range settings {
		if value, err := os.ReadFile(settingFile(name)); err == nil {
			snapshot.Settings[name] = strings.TrimSpace(string(value))
		}
	}
	for folder := range folders {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			snapshot.Absent = append(snapshot.Absent, folder)
		}
	}
	slices.Sort(snapshot.Absent)
	return snapshot
}

// Save writes the snapshot unless there is one already: that one was taken
// earlier, before a cluster that was never taken down.
func (s Snapshot) Save(path string) error {
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("save snapshot: %w", err)
	}
	if _, err := file.Write(content); err != nil {
		return errors.Join(fmt.Errorf("save snapshot: %w", err), file.Close())
	}
	return file.Close()
}

// LoadSnapshot reads a snapshot; without the file it is empty.
func LoadSnapshot(path string) (Snapshot, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Snapshot{}, nil
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("load snapshot: %w", err)
	}
	var snapshot Snapshot
	if err := json.Unmarshal(content, &snapshot); err != nil {
		return Snapshot{}, fmt.Errorf("decode snapshot %s: %w", path, err)
	}
	return snapshot, nil
}

// Restore makes the host like the snapshot again.
func (s Snapshot) Restore() error {
	var failures []error
	for name, value := range s.Settings {
		now, err := os.ReadFile(settingFile(name))
		if err != nil || strings.TrimSpace(string(now)) == value {
			continue // the kernel module went away, or nothing to do
		}
		failures = append(failures, Set(name, value))
	}
	for _, folder := range s.Absent {
		foreign, known := folders[folder] // a file can be edited, this list cannot
		if used, _ := filepath.Glob(filepath.Join(folder, foreign)); known && len(used) == 0 {
			failures = append(failures, os.RemoveAll(folder))
		}
	}
	return errors.Join(failures...)
}

// Set writes a kernel setting.
func Set(name, value string) error {
	if err := os.WriteFile(settingFile(name), []byte(value), 0); err != nil {
		return fmt.Errorf("set %s to %s: %w", name, value, err)
	}
	return nil
}

func settingFile(name string) string {
	return filepath.Join("/proc/sys", filepath.FromSlash(strings.ReplaceAll(name, ".", "/")))
}

// RemoveLinksInto removes the symbolic links in a folder that lead into ours:
// the kubelet's links to pod logs, which it makes at a fixed place.
func RemoveLinksInto(folder, ours string) error {
	links, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return fmt.Errorf("list %s: %w", folder, err)
	}
	var failures []error
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, ours+"/") {
			failures = append(failures, os.Remove(link))
		}
	}
	return errors.Join(failures...)
}

// AllowForwarding makes the host route between pods, and makes the firewall see
// what a bridge passes between two of its ports: without that, the answer of a
// service's pod to a pod on the same node keeps the pod's own address.
func AllowForwarding() error {
	const bridge = "net.bridge.bridge-nf-call-iptables"
	if _, err := os.Stat(settingFile(bridge)); errors.Is(err, fs.ErrNotExist) {
		// It may also be built into the kernel, or be loaded by the first rule.
		_ = exec.Command("modprobe", "br_netfilter").Run()
	}
	if _, err := os.Stat(settingFile(bridge)); err == nil {
		if err := Set(bridge, "1"); err != nil {
			return err
		}
	}
	return Set("net.ipv4.ip_forward", "1")
}

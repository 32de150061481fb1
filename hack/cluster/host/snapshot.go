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
	"syscall"
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

// Snapshot is what the host was like before the cluster.
type Snapshot struct {
	// Settings are the values of kernel settings.
	Settings map[string]string `json:"settings"`
	// Absent are folders that were not there, parents first.
	Absent []string `json:"absent"`
}

// TakeSnapshot looks at the host, and at those folders on it.
func TakeSnapshot(folders []string) Snapshot {
	snapshot := Snapshot{Settings: map[string]string{}}
	for _, name := range settings {
		if value, err := os.ReadFile(settingFile(name)); err == nil {
			snapshot.Settings[name] = strings.TrimSpace(string(value))
		}
	}
	for _, folder := range folders {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			snapshot.Absent = append(snapshot.Absent, folder)
		}
	}
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

// MakeFolders makes the folders that were absent.
func (s Snapshot) MakeFolders() error {
	for _, folder := range s.Absent {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	return nil
}

// Restore makes the host like the snapshot again. It leaves a
// folder that has got other content since.
func (s Snapshot) Restore() error {
	var failures []error
	for name, value := range s.Settings {
		now, err := os.ReadFile(settingFile(name))
		if err != nil || strings.TrimSpace(string(now)) == value {
			continue // the kernel module went away, or nothing to do
		}
		failures = append(failures, Set(name, value))
	}
	for _, folder := range slices.Backward(s.Absent) {
		err := os.Remove(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			failures = append(failures, fmt.Errorf("remove folder: %w", err))
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

package test

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Footprint is what can be seen of a cluster on a host, by aspect, as lines.
type Footprint map[string][]string

// aspects that a command of the host shows, each with what to leave out: times
// and counters differ between any two looks.
var aspects = []struct {
	name    string
	command []string
	ignore  *regexp.Regexp
}{
	{"links", []string{"ip", "-oneline", "link", "show"}, regexp.MustCompile(` state \S+| qlen \S+`)},
	{"addresses", []string{"ip", "-brief", "-4", "address", "show"}, nil},
	{"routes", []string{"ip", "route", "show", "table", "all"}, nil},
	{"iptables", []string{"iptables-save"}, regexp.MustCompile(`^#.*|\[\d+:\d+\]`)},
	{"ip6tables", []string{"ip6tables-save"}, regexp.MustCompile(`^#.*|\[\d+:\d+\]`)},
	{"nftables", []string{"nft", "list", "tables"}, nil},
}

// watched are the folders in which the cluster's programs might leave things.
var watched = []string{"/run", "/var/lib", "/var/log", "/etc", "/opt", "/usr/libexec", "/dev/shm"}

// settings are trees of kernel settings; those of single links come and go.
var settings = []string{"/proc/sys/kernel", "/proc/sys/vm", "/proc/sys/net"}

// volatile are settings that count something, or that make a new value for
// each reader.
var volatile = regexp.MustCompile(`/random/|/ns_last_pid|nf_conntrack_count|/cad_pid|/keys/|/conf/veth|/neigh/veth|/pty/nr`)

// Take looks at the host.
func Take() (Footprint, error) {
	f := Footprint{}
	for _, aspect := range aspects {
		out, err := exec.Command(aspect.command[0], aspect.command[1:]...).Output()
		if err != nil {
			return nil, fmt.Errorf("%q: %w", aspect.command, err)
		}
		f[aspect.name] = lines(out, aspect.ignore)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	f["mounts"] = lines(mounts, nil)
	f["processes"] = processes("/proc")
	f["cgroups"] = emptyGroups("/sys/fs/cgroup")
	f["folders"] = entries(watched)
	f["settings"] = values(settings)
	return f, nil
}

// lines are sorted, without the parts to ignore.
func lines(text []byte, ignore *regexp.Regexp) []string {
	var all []string
	scanner := bufio.NewScanner(bytes.NewReader(text))
	for scanner.Scan() {
		line := scanner.Text()
		if ignore != nil {
			line = ignore.ReplaceAllString(line, "")
		}
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return all
}

// programs are those that the cluster starts, as the kernel abbreviates them.
var programs = []string{
	"etcd", "kube-apiserver", "kube-controller", "kube-scheduler", "kubelet", "kube-proxy",
	"coredns", "provisioner", "enforcer", "containerd", "containerd-shim", "runc", "pause", "probe", "cluster",
}

// processes are those of the cluster's programs, without zombies: other processes
// of the host start and end independently of the cluster.
func processes(proc string) []string {
	var all []string
	stats, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "stat"))
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(content), "(")
		name, rest, _ := strings.Cut(rest, ") ")
		if slices.Contains(programs, name) && !strings.HasPrefix(rest, "Z") {
			all = append(all, filepath.Base(filepath.Dir(path))+" "+name)
		}
	}
	return all
}

// emptyGroups are the control groups without a process, which a cluster may have
// left.
func emptyGroups(root string) []string {
	var all []string
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil
		}
		members, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err == nil && len(members) == 0 {
			all = append(all, path)
		}
		return nil
	})
	return all
}

func entries(folders []string) []string {
	var all []string
	for _, folder := range folders {
		found, _ := os.ReadDir(folder)
		for _, entry := range found {
			all = append(all, filepath.Join(folder, entry.Name()))
		}
	}
	return all
}

func values(trees []string) []string {
	var all []string
	for _, tree := range trees {
		_ = filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || volatile.MatchString(path) {
				return nil
			}
			if content, err := os.ReadFile(path); err == nil {
				all = append(all, path+" = "+strings.TrimSpace(string(content)))
			}
			return nil
		})
	}
	return all
}

// Difference is what was added to a footprint and what is missing from it. A
// process that is missing is no difference: one from before, such as the API
// server of another test, may have ended by itself. TestCluster starts a process
// of its own to check that the cluster ends no other.
func Difference(before, after Footprint) []string {
	var changes []string
	for aspect := range after {
		for _, line := range after[aspect] {
			if !slices.Contains(before[aspect], line) {
				changes = append(changes, fmt.Sprintf("%s: + %s", aspect, line))
			}
		}
		if aspect == "processes" {
			continue
		}
		for _, line := range before[aspect] {
			if !slices.Contains(after[aspect], line) {
				changes = append(changes, fmt.Sprintf("%s: - %s", aspect, line))
			}
		}
	}
	slices.Sort(changes)
	return changes
}

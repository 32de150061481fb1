package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Cgroups are the hierarchies of control groups: one on a host with version 2,
// one per controller on a host with version 1.
type Cgroups struct{ hierarchies []hierarchy }

type hierarchy struct {
	root string
	// unified is true of version 2 where it is alone: a group then passes its
	// controllers on to its children.
	unified bool
	// cpuset is true of the one of version 1 that has this controller.
	cpuset bool
}

// OpenCgroups finds the hierarchies that the host has mounted.
func OpenCgroups() (Cgroups, error) {
	mounts, err := readMounts()
	if err != nil {
		return Cgroups{}, err
	}
	found := hierarchies(mounts)
	if len(found) == 0 {
		return Cgroups{}, errors.New("no control groups are mounted: mount cgroup2 on /sys/fs/cgroup")
	}
	return Cgroups{found}, nil
}

// hierarchies finds those of version 1 and that of version 2. A host may have
// them side by side, and the kubelet then makes its groups in both, but only
// those of version 1 have controllers that matter.
func hierarchies(mounts []mount) []hierarchy {
	var v1, v2 []hierarchy
	for _, m := range mounts {
		switch m.Kind {
		case "cgroup":
			v1 = append(v1, hierarchy{root: m.Point, cpuset: slices.Contains(m.Options, "cpuset")})
		case "cgroup2":
			v2 = append(v2, hierarchy{root: m.Point})
		}
	}
	for i := range v2 {
		v2[i].unified = len(v1) == 0
	}
	return append(v1, v2...)
}

// Make makes the group, and those above it, in every hierarchy.
func (c Cgroups) Make(group string) error {
	for _, h := range c.hierarchies {
		parent := h.root
		for name := range strings.SplitSeq(group, "/") {
			folder := filepath.Join(parent, name)
			if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("make control group: %w", err)
			}
			if err := h.prepare(parent, folder); err != nil {
				return fmt.Errorf("prepare control group %s: %w", folder, err)
			}
			parent = folder
		}
	}
	return nil
}

// prepare gives a new group what it does not get by itself: in version 1 its
// cpuset is empty, and then no process can be put in it; in version 2 it has
// the controllers that its parent passes on.
func (h hierarchy) prepare(parent, folder string) error {
	if h.unified {
		available, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers"))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte(controllers(string(available))), 0)
	}
	if !h.cpuset {
		return nil
	}
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		content, err := os.ReadFile(filepath.Join(parent, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0); err != nil {
			return err
		}
	}
	return nil
}

// controllers is the text that switches those controllers on.
func controllers(available string) string {
	var words []string
	for controller := range strings.FieldsSeq(available) {
		words = append(words, "+"+controller)
	}
	return strings.Join(words, " ")
}

// cpuWeights are the files with a group's weight against those beside it, by the controller's name for
// it, and its default.
var cpuWeights = map[string]int{"cpu.shares": 1024, "cpu.weight": 100}

// Weigh has the group get times as much processor time as one beside it, where both want it.
func (c Cgroups) Weigh(group string, times int) error {
	for _, h := range c.hierarchies {
		for name, normal := range cpuWeights {
			file := filepath.Join(h.root, group, name)
			if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err := os.WriteFile(file, []byte(strconv.Itoa(times*normal)), 0); err != nil {
				return fmt.Errorf("weigh control group: %w", err)
			}
		}
	}
	return nil
}

// Join puts a process into the group.
func (c Cgroups) Join(group string, pid int) error {
	for _, h := range c.hierarchies {
		file := filepath.Join(h.root, group, "cgroup.procs")
		if err := os.WriteFile(file, []byte(strconv.Itoa(pid)), 0); err != nil {
			return fmt.Errorf("put process %d into control group: %w", pid, err)
		}
	}
	return nil
}

// Kill kills every process in the group and below.
func (c Cgroups) Kill(group string) error {
	// A process that forks while the list is read escapes it, so the list is
	// read until it is empty. A group of n processes is so after 1 + log n
	// rounds at the worst; ten is for those that the kernel is slow to end.
	for range 10 {
		pids, err := c.processes(group)
		if err != nil || len(pids) == 0 {
			return err
		}
		for _, pid := range pids {
			killAndWait(pid)
		}
	}
	return fmt.Errorf("processes in control group %s do not end although they were killed", group)
}

// killAndWait waits one second at most: who does not end by then is in the
// next list.
func killAndWait(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // ended meanwhile
	}
	defer unix.Close(fd)
	if unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1000)
	}
}

func (c Cgroups) processes(group string) ([]int, error) {
	found := map[int]bool{}
	for _, h := range c.hierarchies {
		for _, folder := range groupsBelow(filepath.Join(h.root, group)) {
			content, err := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
			if err != nil {
				continue // removed meanwhile
			}
			for field := range strings.FieldsSeq(string(content)) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					return nil, fmt.Errorf("parse processes of %s: %w", folder, err)
				}
				found[pid] = true
			}
		}
	}
	pids := make([]int, 0, len(found))
	for pid := range found {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids, nil
}

// Remove removes the group and those below it, which must have no processes.
func (c Cgroups) Remove(group string) error {
	var failures []error
	for _, h := range c.hierarchies {
		for _, folder := range slices.Backward(groupsBelow(filepath.Join(h.root, group))) {
			if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failures = append(failures, fmt.Errorf("remove control group: %w", err))
			}
		}
	}
	return errors.Join(failures...)
}

// groupsBelow returns a folder and all below it, parents first.
func groupsBelow(root string) []string {
	var folders []string
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		return nil // what vanishes during the walk is not missed
	})
	return folders
}

package process

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mark is the variable that says whose process it is: the cluster's folder, a
// separator that no path has, and the process's name.
const (
	mark      = "LOADTEST_CLUSTER_PROCESS"
	separator = "\x1f"
)

// Table is the processes of one cluster.
type Table struct {
	// Owner tells clusters apart; it is the cluster's state folder.
	Owner string
	// Proc is where the process file system is; empty means /proc.
	Proc string
}

// Process is one that runs.
type Process struct {
	PID int
	// Name is the one it was started under, or its parent's if it inherited it.
	Name string
	// Leader is true of processes that Start made, false of their children.
	Leader bool
}

// List returns the cluster's processes by name, leaders first.
func (t Table) List() ([]Process, error) {
	folders, err := filepath.Glob(filepath.Join(t.proc(), "[0-9]*"))
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []Process
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			continue
		}
		if p, ok := t.read(pid); ok {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b Process) int {
		if order := strings.Compare(a.Name, b.Name); order != 0 {
			return order
		}
		if a.Leader != b.Leader {
			if a.Leader {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.PID, b.PID)
	})
	return found, nil
}

// Leaders returns the processes that Start made, by name.
func (t Table) Leaders() (map[string]Process, error) {
	all, err := t.List()
	if err != nil {
		return nil, err
	}
	leaders := map[string]Process{}
	for _, p := range all {
		if p.Leader {
			leaders[p.Name] = p
		}
	}
	return leaders, nil
}

// read looks at one process; it is none of ours if it ends meanwhile.
func (t Table) read(pid int) (Process, bool) {
	folder := filepath.Join(t.proc(), strconv.Itoa(pid))
	environment, err := os.ReadFile(filepath.Join(folder, "environ"))
	if err != nil {
		return Process{}, false
	}
	name, ok := nameOf(environment, t.Owner)
	if !ok {
		return Process{}, false
	}
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return Process{}, false
	}
	session, err := sessionOf(string(stat))
	return Process{PID: pid, Name: name, Leader: session == pid}, err == nil
}

func (t Table) proc() string { return cmp.Or(t.Proc, "/proc") }

// nameOf finds the mark in an environment as the kernel shows it, with a zero
// byte after each variable.
func nameOf(environment []byte, owner string) (string, bool) {
	prefix := []byte(mark + "=" + owner + separator)
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if name, ok := bytes.CutPrefix(variable, prefix); ok {
			return string(name), true
		}
	}
	return "", false
}

// sessionOf reads the session out of a stat line. The second field is the
// program's name in parentheses and may itself have spaces and parentheses, so
// fields are counted from the last one.
func sessionOf(stat string) (int, error) {
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, errors.New("stat has no program name")
	}
	fields := strings.Fields(stat[end+1:]) // state, parent, group, session, …
	if len(fields) < 4 {
		return 0, fmt.Errorf("stat has %d fields after the name, want 4 or more", len(fields))
	}
	return strconv.Atoi(fields[3])
}

package process

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mark is the variable that identifies the process: the cluster's folder, a
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
	for range attempts {
		content, err := os.ReadFile(filepath.Join(folder, "stat"))
		if err != nil {
			return Process{}, false
		}
		stat, err := parseStat(string(content))
		if err != nil {
			return Process{}, false
		}
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil {
			return Process{}, false
		}
		if len(environment) == 0 && stat.hasEnvironment() {
			time.Sleep(pause)
			continue
		}
		name, ok := nameOf(environment, t.Owner)
		return Process{PID: pid, Name: name, Leader: stat.session == pid}, ok
	}
	return Process{}, false
}

// While a process replaces its program by another one, as a shell does with
// exec, its environment is empty for a moment. It is read again until it is
// there, for much longer than that takes. Hardly any process really has none.
const (
	attempts = 50
	pause    = time.Millisecond
)

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

// stat is what is used of a process's stat line.
type stat struct {
	state   string
	session int
	flags   uint64
}

// kernelThread is the flag PF_KTHREAD.
const kernelThread = 0x00200000

// hasEnvironment is false of what ended, and of the kernel's own.
func (s stat) hasEnvironment() bool {
	return s.state != "Z" && s.state != "X" && s.flags&kernelThread == 0
}

// parseStat reads a stat line. The second field is the program's name in
// parentheses and may itself have spaces and parentheses, so fields are counted
// from the last one.
func parseStat(line string) (stat, error) {
	end := strings.LastIndexByte(line, ')')
	if end < 0 {
		return stat{}, errors.New("stat has no program name")
	}
	fields := strings.Fields(line[end+1:]) // state, parent, group, session, terminal, its group, flags, …
	if len(fields) < 7 {
		return stat{}, fmt.Errorf("stat has %d fields after the name, want 7 or more", len(fields))
	}
	session, err := strconv.Atoi(fields[3])
	if err != nil {
		return stat{}, fmt.Errorf("parse session: %w", err)
	}
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("parse flags: %w", err)
	}
	return stat{state: fields[0], session: session, flags: flags}, nil
}

// Memory is the process's proportional share in bytes: pages that several
// processes map, as those of the multi-call binary, are divided among them, so
// that shares can be added.
func (t Table) Memory(pid int) (int64, error) {
	file, err := os.Open(filepath.Join(t.proc(), strconv.Itoa(pid), "smaps_rollup"))
	if err != nil {
		return 0, fmt.Errorf("read memory of process %d: %w", pid, err)
	}
	defer file.Close()
	return proportional(file)
}

func proportional(rollup io.Reader) (int64, error) {
	lines := bufio.NewScanner(rollup)
	for lines.Scan() {
		value, ok := strings.CutPrefix(lines.Text(), "Pss:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("parse memory %q: %w", lines.Text(), err)
		}
		return kib << 10, nil
	}
	return 0, fmt.Errorf("parse memory: no line Pss: %w", lines.Err())
}

package health

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Limits are what the system grants this process.
type Limits struct {
	// Descriptors is how many files and connections may be open.
	Descriptors int64
	// Ports is how many connections one address of a target can have from here.
	Ports int64
	// Memory is how many bytes may be used, by sockets too; 0: not known.
	Memory int64
}

// Unlimited is a limit that is none.
const Unlimited = 1 << 30

// SystemLimits reads the limits from the system.
func SystemLimits() Limits {
	ports, _ := os.ReadFile(portFile) // where there is none, ports are no limit
	return Limits{Descriptors: descriptors(), Ports: portsIn(string(ports)), Memory: memoryLimit(os.ReadFile)}
}

const (
	// portFile is where Linux says which ports connections are made from.
	portFile = "/proc/sys/net/ipv4/ip_local_port_range"
	// memoryFile says how much memory the machine has.
	memoryFile = "/proc/meminfo"
)

// portsIn is how many there are from the first number of a text to the second.
func portsIn(text string) int64 {
	var first, last int64
	if _, err := fmt.Sscan(text, &first, &last); err != nil || last < first {
		return Unlimited
	}
	return last - first + 1
}

// memoryLimit is how many bytes of memory this process may use, sockets in the
// kernel included: the least that its control groups allow, or all that the
// machine has. 0: this system does not say.
func memoryLimit(read readFile) int64 {
	groups, _ := read(groupsFile) // there is none: nothing bounds it
	mounts, _ := read(mountsFile)
	info, _ := read(memoryFile)
	limit := physical(string(info))
	for _, file := range limitFiles(string(groups), string(mounts)) {
		text, _ := read(file) // a group that is out of sight bounds nothing here
		if n := memoryMax(string(text)); n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	return limit
}

// limitFiles are the files that may bound this process's memory: those of its
// group and of all groups around it that can be seen from here.
func limitFiles(groups, mounts string) []string {
	return groupFiles(groups, mounts, "memory", func(unified bool) string {
		if unified {
			return "memory.max"
		}
		return "memory.limit_in_bytes"
	})
}

// memoryMax reads a bound; 0: it is none. Version 2 says so in a word, version 1
// with a number that is larger than any memory.
func memoryMax(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n >= 1<<60 {
		return 0
	}
	return max(0, n)
}

// physical reads from meminfo what there is in all; 0: it does not say.
func physical(info string) int64 {
	for line := range strings.Lines(info) {
		// MemTotal:       24684092 kB
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != "MemTotal:" {
			continue
		}
		if kilobytes, err := strconv.ParseInt(fields[1], 10, 64); err == nil && kilobytes > 0 && kilobytes < 1<<50 {
			return kilobytes << 10
		}
	}
	return 0
}

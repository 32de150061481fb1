package health

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Limits are the limits that the system sets for this process.
type Limits struct {
	// Descriptors bounds the files and connections that are open.
	Descriptors int64
	// Ports bounds the connections to one address of a target.
	Ports int64
	// Memory bounds the bytes in use, those of sockets included; 0: unknown.
	Memory int64
}

// Unlimited is the value of a limit that does not exist.
const Unlimited = 1 << 30

// SystemLimits reads the limits from the system.
func SystemLimits() Limits {
	ports, _ := os.ReadFile(portFile) // absent: no limit
	return Limits{Descriptors: descriptors(), Ports: portsIn(string(ports)), Memory: memoryLimit(os.ReadFile)}
}

const (
	// portFile holds the range of ports that connections are made from.
	portFile = "/proc/sys/net/ipv4/ip_local_port_range"
	// memoryFile holds the size of the machine's memory.
	memoryFile = "/proc/meminfo"
)

// portsIn returns the number of ports in a range, which is two numbers.
func portsIn(text string) int64 {
	var first, last int64
	if _, err := fmt.Sscan(text, &first, &last); err != nil || last < first {
		return Unlimited
	}
	return last - first + 1
}

// memoryLimit returns how many bytes of memory this process may use, those of sockets
// in the kernel included: the lowest limit of its control groups, or the machine's
// memory. 0: unknown on this system.
func memoryLimit(read readFile) int64 {
	groups, _ := read(groupsFile) // absent: no limit
	mounts, _ := read(mountsFile)
	info, _ := read(memoryFile)
	limit := physical(string(info))
	for _, file := range limitFiles(string(groups), string(mounts)) {
		text, _ := read(file) // not visible from here: no limit
		if n := memoryMax(string(text)); n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	return limit
}

// limitFiles returns the files that may limit this process's memory: those of its
// group and of all groups around it that are visible from here.
func limitFiles(groups, mounts string) []string {
	return groupFiles(groups, mounts, "memory", func(unified bool) string {
		if unified {
			return "memory.max"
		}
		return "memory.limit_in_bytes"
	})
}

// memoryMax parses a limit; 0: none, for which version 2 has a word, and version 1 a
// number that is larger than any memory.
func memoryMax(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n >= 1<<60 {
		return 0
	}
	return max(0, n)
}

// physical parses the machine's memory from meminfo; 0: it is missing.
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

package process

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// peakRSS finds the peak of the resident memory, in bytes, in /proc/pid/status.
func peakRSS(status []byte) (int64, bool) { return kilobytes(status, "VmHWM") }

// kilobytes finds a value in kB of a file in /proc, in bytes.
func kilobytes(text []byte, name string) (int64, bool) {
	value, ok := field(text, name)
	if !ok {
		return 0, false
	}
	number, unit, _ := strings.Cut(value, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	return n << 10, err == nil && unit == "kB"
}

// field finds the value of a line "name: value" of a file in /proc.
func field(text []byte, name string) (string, bool) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// Processor is the model of the first processor.
func Processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	if model, ok := field(info, "model name"); ok {
		return model
	}
	return "unknown processor"
}

// Memory is that of the machine, in bytes.
func Memory() int64 {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	text, _ := field(info, "MemTotal")
	var kb int64
	_, _ = fmt.Sscanf(text, "%d kB", &kb) // 0 if it cannot be read
	return kb << 10
}

// Kernel is its release.
func Kernel() string { return readLine("/proc/sys/kernel/osrelease") }

// Tracked says how many connections the kernel tracks and how many it can; ok
// is false where it tracks none.
func Tracked() (now, most int64, ok bool) {
	_, err := fmt.Sscan(readLine("/proc/sys/net/netfilter/nf_conntrack_count"), &now)
	_, errMost := fmt.Sscan(readLine("/proc/sys/net/netfilter/nf_conntrack_max"), &most)
	return now, most, err == nil && errMost == nil
}

func readLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

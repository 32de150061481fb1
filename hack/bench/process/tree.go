package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc/pid/stat: USER_HZ, which Linux keeps at 100 a second.
const tick = 10 * time.Millisecond

// tree is a process and all that it has started, directly and indirectly. A process whose parent has ended is
// not found.
func tree(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i])) // the pattern is right
		for _, file := range files {
			for _, child := range strings.Fields(readLine(file)) {
				if n, err := strconv.Atoi(child); err == nil {
					all = append(all, n)
				}
			}
		}
	}
	return all
}

// treeCPU is the time in which a process and its descendants computed, also those that have ended and were waited
// for, to a tick for each of their parents.
func treeCPU(pid int) (sum time.Duration, err error) {
	for _, p := range tree(pid) {
		t, err := cpuTime(p)
		if err != nil && p == pid {
			return 0, err
		}
		sum += t + reapedCPU(readLine(fmt.Sprintf("/proc/%d/stat", p))) // 0 of a child that has ended meanwhile
	}
	return sum, nil
}

// reapedCPU is the time in which the children computed for which a process has waited, of its /proc/pid/stat:
// cutime and cstime, the 16th and 17th field. The 2nd, in parentheses, may have spaces.
func reapedCPU(stat string) time.Duration {
	const cutime = 16 - 3
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= cutime+1 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[cutime], 10, 64) // the kernel writes numbers
	system, _ := strconv.ParseInt(fields[cutime+1], 10, 64)
	return time.Duration(user+system) * tick
}

// treePSS is the memory of a process and its descendants now, in bytes: the sum of their proportional set sizes, of
// which a page that several share counts once in all.
func treePSS(pid int) (sum int64) {
	for _, p := range tree(pid) {
		rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		if err != nil {
			continue // it has ended
		}
		n, _ := kilobytes(rollup, "Pss")
		sum += n
	}
	return sum
}

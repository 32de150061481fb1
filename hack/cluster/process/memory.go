package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

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

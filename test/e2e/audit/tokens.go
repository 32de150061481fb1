package audit

import (
	"fmt"
	"strconv"
	"strings"
)

// The store's own statistics, and the one command by which every strategy takes a
// token: a bucket is written for a grant, once, and never for a denial.
const (
	statistics = "# Commandstats"
	taking     = "cmdstat_hset:calls="
)

// Taken reads from the text of Redis's INFO commandstats how many tokens it has
// given out since it was started.
func Taken(info string) (int64, error) {
	if !strings.HasPrefix(info, statistics) {
		return 0, fmt.Errorf("statistics of redis begin with %.40q, not with %q", info, statistics)
	}
	for line := range strings.Lines(info) {
		rest, ok := strings.CutPrefix(line, taking)
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(rest, ",")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read how often redis ran HSET: %w", err)
		}
		return n, nil
	}
	return 0, nil // A command that was never run has no line.
}

package incluster

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sampleEvery is how often processor times are read. So much of the last of a pod may be missing:
// its control group goes with it.
const sampleEvery = 200 * time.Millisecond

// groups are the control groups of pods of the local cluster, of version 1 and 2.
var groups = []string{
	"/sys/fs/cgroup/cpuacct/loadtest-cluster/*/kubepods/pod*/cpuacct.usage",
	"/sys/fs/cgroup/cpuacct/loadtest-cluster/*/kubepods/*/pod*/cpuacct.usage",
	"/sys/fs/cgroup/loadtest-cluster/*/kubepods/pod*/cpu.stat",
	"/sys/fs/cgroup/loadtest-cluster/*/kubepods/*/pod*/cpu.stat",
}

// processor keeps the processor time of each pod, by its UID.
type processor struct {
	groups []string

	mu   sync.Mutex
	used map[string]time.Duration
}

func newProcessor(groups []string) *processor {
	return &processor{groups: groups, used: map[string]time.Duration{}}
}

// watch reads until ctx ends.
func (p *processor) watch(ctx context.Context) {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		p.sample()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (p *processor) sample() {
	for _, pattern := range p.groups {
		names, _ := filepath.Glob(pattern) // the patterns are right
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				continue // the pod has just gone
			}
			if used, ok := usage(filepath.Base(name), text); ok {
				p.keep(strings.TrimPrefix(filepath.Base(filepath.Dir(name)), "pod"), used)
			}
		}
	}
}

// keep enters a time. A group that has just been made anew has less, and counts no more.
func (p *processor) keep(uid string, used time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[uid] = max(p.used[uid], used)
}

// of is the processor time of a pod so far; false: its group was never seen.
func (p *processor) of(uid string) (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	used, ok := p.used[uid]
	return used, ok
}

var microseconds = regexp.MustCompile(`(?m)^usage_usec (\d+)$`)

// usage reads the file of a control group: nanoseconds in cpuacct.usage, microseconds in cpu.stat.
func usage(name string, text []byte) (time.Duration, bool) {
	digits, unit := bytes.TrimSpace(text), time.Nanosecond
	if name == "cpu.stat" {
		m := microseconds.FindSubmatch(text)
		if m == nil {
			return 0, false
		}
		digits, unit = m[1], time.Microsecond
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return time.Duration(n) * unit, err == nil
}

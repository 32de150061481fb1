package incluster

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestProcessorTimeIsReadOfBothVersionsOfControlGroups(t *testing.T) {
	root := t.TempDir()
	write := func(pod, file, text string) {
		t.Helper()
		must.Succeed(t, os.MkdirAll(filepath.Join(root, "burstable", pod), 0o755))
		must.Succeed(t, os.WriteFile(filepath.Join(root, "burstable", pod, file), []byte(text), 0o644))
	}
	write("poda", "cpuacct.usage", "1500000000\n")
	write("podb", "cpu.stat", "usage_usec 2500000\nuser_usec 9\n")
	write("podc", "cpu.stat", "user_usec 9\n")
	write("podd", "cpuacct.usage", "much\n")
	p := newProcessor([]string{root + "/*/pod*/cpuacct.usage", root + "/*/pod*/cpu.stat"})
	p.sample()
	// A group that has gone leaves its last time; so does one that begins again.
	must.Succeed(t, os.RemoveAll(filepath.Join(root, "burstable", "poda")))
	write("podb", "cpu.stat", "usage_usec 1\n")
	p.sample()
	for uid, want := range map[string]time.Duration{"a": 1500 * time.Millisecond, "b": 2500 * time.Millisecond, "c": 0, "d": 0} {
		if got, found := p.of(uid); got != want || found != (want > 0) {
			t.Errorf("pod %s used %v (%t), want %v", uid, got, found, want)
		}
	}
}

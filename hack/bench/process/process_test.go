package process

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestPeakMemoryIsReadFromStatus(t *testing.T) {
	tests := map[string]struct {
		status string
		want   int64
		ok     bool
	}{
		"a process":    {"Name:\tx\nVmPeak:\t  99 kB\nVmHWM:\t   12 kB\nVmRSS:\t 8 kB\n", 12 << 10, true},
		"no value":     {"VmHWM\nVmHWM: 12 kB\n", 12 << 10, true},
		"a zombie":     {"Name:\tx\nState:\tZ (zombie)\n", 0, false},
		"another unit": {"VmHWM:\t12 MB\n", 12 << 10, false},
		"no number":    {"VmHWM:\tmany kB\n", 0, false},
		"nothing":      {"", 0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := peakRSS([]byte(tt.status))
			if ok != tt.ok || (ok && got != tt.want) {
				t.Errorf("peakRSS = %d, %v; want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// rounding is how coarse the usage of a process that has ended may be: a tick of the kernel.
const rounding = 10 * time.Millisecond

// A service ends when it is asked to, and until then says what it cost.
func TestTerminatedProcessTellsItsCost(t *testing.T) {
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "trap 'exit 0' TERM; echo ready; while :; do :; done"}, Core: Anywhere})
	must.Succeed(t, err)
	line := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(p.Stdout, line); err != nil {
		t.Fatal(err)
	}
	cpu, err := p.CPU()
	for err == nil && cpu < 20*time.Millisecond {
		cpu, err = p.CPU()
	}
	must.Succeed(t, err)
	usage, err := p.Terminate(syscall.SIGTERM)
	if err != nil || usage.CPU+rounding < cpu {
		t.Errorf("it cost %v, %v; want it to end by itself, after no less than %v", usage.CPU, err, cpu)
	}
	if _, err := p.CPU(); err == nil {
		t.Error("a process that is gone computes")
	}
}

// What a process cost is known after its end.
func TestCostIsKnownAfterTheEnd(t *testing.T) {
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo ready; read x"}, Core: Anywhere})
	must.Succeed(t, err)
	line := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(p.Stdout, line); err != nil {
		t.Fatal(err)
	}
	if got := p.PeakRSS(); got < 100<<10 || got > 100<<20 {
		t.Errorf("a shell has %d bytes of memory", got)
	}
	if _, err := p.Stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	u, err := p.Stop()
	if err != nil || u.CPU <= 0 || u.PeakRSS <= 0 {
		t.Errorf("usage %+v, %v", u, err)
	}
}

// burn is a shell's loop that takes some hundredths of a second.
const burn = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; "

// What a process has started counts with it while it runs, when it has ended, and when all have.
func TestATreeOfProcessesCountsAsOne(t *testing.T) {
	// The shell itself computes nothing; a child of a child runs, and one has ended.
	p, err := Start(Command{Path: "/bin/sh", Core: Anywhere, Tree: true, Args: []string{"-c",
		"exec 3<&0; (" + burn + ") & wait; (( " + burn + " echo ready; read x <&3 ); :) & wait"}})
	must.Succeed(t, err)
	line := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(p.Stdout, line); err != nil {
		t.Fatal(err)
	}
	same.As(t, "processes", 3, len(tree(p.cmd.Process.Pid)))
	own, err := cpuTime(p.cmd.Process.Pid)
	must.Succeed(t, err)
	reaped := reapedCPU(readLine(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid)))
	all, err := p.CPU()
	if err != nil || reaped <= 0 || all-own < reaped+20*time.Millisecond {
		t.Errorf("all have computed for %v, %v; want %v of the shell, %v of the child that has ended, and some of the others", all, err, own, reaped)
	}
	if got := p.PeakRSS(); got < 100<<10 || got > 100<<20 {
		t.Errorf("three shells have %d bytes of memory", got)
	}
	if _, err := p.Stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	u, err := p.Stop()
	if err != nil || u.CPU+2*rounding < all || u.PeakRSS <= 0 {
		t.Errorf("usage %+v, %v; want no less than %v", u, err, all)
	}
	if _, err := p.CPU(); err == nil {
		t.Error("a tree that is gone computes")
	}
}

func TestTimesOfChildrenAreReadFromStat(t *testing.T) {
	const before = "7 (a b) c) S 1 7 7 0 -1 4194560 1 2 3 4 5 6"
	for stat, want := range map[string]time.Duration{
		before + " 12 30 20 0": 420 * time.Millisecond, before + " 12": 0, "": 0,
	} {
		same.As(t, stat, want, reapedCPU(stat))
	}
}

func TestProcessStaysOnItsCore(t *testing.T) {
	var out bytes.Buffer
	p, err := Start(Command{Path: "/bin/cat", Args: []string{"/proc/self/status"}, Core: 0, Stdin: strings.NewReader(""), Stdout: &out})
	must.Succeed(t, err)
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, _ := field(out.Bytes(), "Cpus_allowed_list"); got != "0" {
		t.Errorf("it may run on cores %s, want 0", got)
	}
	// The threads of this process may run anywhere, as before.
	own := must.ReadFile(t, "/proc/thread-self/status")
	init := must.ReadFile(t, "/proc/self/status")
	mine, _ := field(own, "Cpus_allowed_list")
	all, _ := field(init, "Cpus_allowed_list")
	if mine != all {
		t.Errorf("this thread is left on cores %s of %s", mine, all)
	}
}

func TestFailedProcessTellsWhy(t *testing.T) {
	_, err := Start(Command{Path: filepath.Join(t.TempDir(), "x"), Core: Anywhere})
	must.Say(t, err, "start x")
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "echo why >&2; exit 3"}, Core: Anywhere})
	must.Succeed(t, err)
	_, err = p.Stop()
	must.Say(t, err, "exit status 3: why")
	p, err = Start(Command{Path: "/bin/cat", Core: Anywhere})
	must.Succeed(t, err)
	p.Kill()
	if _, err := p.Stop(); err == nil {
		t.Error("a killed process ended well")
	}
}

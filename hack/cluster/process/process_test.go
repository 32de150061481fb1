package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/probe"
	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

// start starts a shell script under a name, in a table of the test's own.
func start(t *testing.T, script string) (Table, int, string) {
	t.Helper()
	table := Table{Owner: t.TempDir()}
	log := filepath.Join(table.Owner, "logs", "deep", "script.log")
	pid, err := table.Start(Spec{Name: "script", Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"OWN=yes"}, Log: log})
	must.Succeed(t, err)
	t.Cleanup(func() {
		left, err := table.List()
		must.Succeed(t, err)
		must.Report(t, "Stop", table.Stop(left, 0))
	})
	return table, pid, log
}

// awaitEnd waits until a process has ended.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it has
	}
	h := handle{fd: fd}
	defer closeAll([]handle{h})
	if !ended(h, time.Now().Add(time.Minute)) {
		t.Fatalf("process %d does not end", pid)
	}
}

func TestStartedProcessIsListed(t *testing.T) {
	table, pid, _ := start(t, "exec sleep 600")
	leaders, err := table.Leaders()
	must.Succeed(t, err)
	if got := leaders["script"]; got.PID != pid || !got.Leader {
		t.Errorf("found %+v, want a leader with pid %d", got, pid)
	}
	memory, err := table.Memory(pid)
	if err != nil || memory <= 0 {
		t.Errorf("memory is %d, %v", memory, err)
	}
}

func TestStartPassesOnlyPath(t *testing.T) {
	t.Setenv("SECRET", "of the caller")
	_, pid, log := start(t, "env; pwd; echo error >&2")
	awaitEnd(t, pid)
	content := must.ReadFile(t, log)
	got := string(content)
	for _, want := range []string{"PATH=" + os.Getenv("PATH"), "OWN=yes", mark + "=", "\n/\n", "error"} {
		if !strings.Contains(got, want) {
			t.Errorf("log has no %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "SECRET") {
		t.Errorf("the caller's environment was passed on:\n%s", got)
	}
}

func TestStopEndsChildrenAsWell(t *testing.T) {
	table, pid, _ := start(t, "sleep 600 & exec sleep 600")
	awaitChildren(t, table, 2)
	all, err := table.List()
	must.Succeed(t, err)
	if !all[0].Leader || all[0].PID != pid || all[1].Leader {
		t.Errorf("List = %+v, want the leader and then its child", all)
	}
	must.Succeed(t, table.Stop(all, 0))
	if left, err := table.List(); err != nil || len(left) > 0 {
		t.Errorf("left are %+v, %v", left, err)
	}
}

// awaitChildren waits until the script has forked.
func awaitChildren(t *testing.T, table Table, n int) {
	t.Helper()
	await(t, fmt.Sprintf("%d processes", n), func() error {
		all, err := table.List()
		if err == nil && len(all) != n {
			err = fmt.Errorf("there are %d", len(all))
		}
		return err
	})
}

// await waits until try succeeds.
func await(t *testing.T, what string, try func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	must.Succeed(t, probe.Until(ctx, what, func(context.Context) error { return try() }))
}

func TestStopLetsProcessesEndInOrder(t *testing.T) {
	table, _, log := start(t, `trap 'echo ended; exit 0' TERM; echo ready; while :; do sleep 0.01; done`)
	awaitLog(t, log, "ready")
	all, err := table.List()
	must.Succeed(t, err)
	must.Succeed(t, table.Stop(all[:1], time.Minute))
	awaitLog(t, log, "ended")
}

func TestStopKillsProcessesThatIgnoreSIGTERM(t *testing.T) {
	table, pid, log := start(t, `trap '' TERM; echo ready; while :; do sleep 600; done`)
	awaitLog(t, log, "ready")
	all, err := table.List()
	must.Succeed(t, err)
	must.Succeed(t, table.Stop(all, time.Millisecond))
	awaitEnd(t, pid)
}

func awaitLog(t *testing.T, log, want string) {
	t.Helper()
	await(t, "the line "+want, func() error {
		content, err := os.ReadFile(log)
		if err == nil && !strings.Contains(string(content), want) {
			err = fmt.Errorf("the log is %q", content)
		}
		return err
	})
}

func TestStopSparesALaterProcessWithTheSameNumber(t *testing.T) {
	table, _, _ := start(t, "exec sleep 600")
	stranger, pid, _ := start(t, "exec sleep 600")
	must.Succeed(t, table.Stop([]Process{{PID: pid, Name: "script"}}, 0))
	if leaders, err := stranger.Leaders(); err != nil || leaders["script"].PID != pid {
		t.Errorf("the stranger is gone: %+v, %v", leaders, err)
	}
}

func TestStartNamesWhatItCannotStart(t *testing.T) {
	table := Table{Owner: t.TempDir()}
	_, err := table.Start(Spec{Name: "etcd", Path: "/does/not/exist", Log: filepath.Join(table.Owner, "log")})
	if err == nil || !strings.Contains(err.Error(), "start etcd") {
		t.Errorf("error is %v, want it to name etcd", err)
	}
}

func TestRaiseFileLimitReachesTheHardLimit(t *testing.T) {
	var before, after unix.Rlimit
	must.Succeed(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	must.Succeed(t, RaiseFileLimit())
	must.Succeed(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &after))
	if after.Cur != before.Max {
		t.Errorf("the limit is %d, want the hard limit %d", after.Cur, before.Max)
	}
	_, pid, log := start(t, "ulimit -n")
	awaitEnd(t, pid)
	content, err := os.ReadFile(log)
	if err != nil || strings.TrimSpace(string(content)) != strconv.FormatUint(before.Max, 10) {
		t.Errorf("a child's limit is %q, %v, want %d", content, err, before.Max)
	}
}

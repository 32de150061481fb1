package daemon

import (
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func shell(script string) Program {
	return Program{Path: "/bin/sh", Args: []string{"-c", script}, Ready: "ready"}
}

func TestStartReturnsWhenTheProgramIsReady(t *testing.T) {
	for name, script := range map[string]string{
		"with no more output": "echo one; echo it is ready now; exec sleep 600",
		"on its other output": "echo ready >&2; exec sleep 600",
		"with endless output": "echo ready; exec cat /dev/zero",
		"and has children":    "sleep 600 & echo ready; wait",
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Start(shell(script))
			must.Succeed(t, err)
			p.End(syscall.SIGKILL) // waits for every process that holds the output
			p.End(syscall.SIGKILL) // is gone already
			if err := p.Signal(0); err == nil {
				t.Error("is still there")
			}
		})
	}
}

func TestStartReportsFailure(t *testing.T) {
	late := shell("echo almost; exec sleep 600")
	late.Within = time.Nanosecond
	tests := map[string]struct {
		program Program
		want    string
	}{
		"it ends":    {shell("echo no space left; exit 1"), "start /bin/sh: it ended before it said \"ready\":\nno space left"},
		"it is late": {late, "start /bin/sh: it was killed after 1ns\nit ended before it said \"ready\":"},
		"not there":  {Program{Path: "/nowhere/server"}, "start /nowhere/server: fork/exec /nowhere/server: no such file or directory"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Start(tt.program)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error = %v, want %s", err, tt.want)
			}
		})
	}
}

func TestServersHaveAddressesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, pid := range []int{1, 255, 256, 65535, 65536, 4194303} {
		for number := range 3 {
			address := addressOf(pid, number)
			host, _, err := net.SplitHostPort(address)
			if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
				t.Errorf("process %d has the address %s, which is not of this machine", pid, address)
			}
			if seen[address] {
				t.Errorf("two servers have the address %s", address)
			}
			seen[address] = true
		}
	}
	if a, b := Address(), Address(); a == b {
		t.Errorf("two servers have the address %s", a)
	}
}

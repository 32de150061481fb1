package main

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
)

func TestReapCollectsAllEndedChildren(t *testing.T) {
	var pids []int
	for range 3 {
		command := exec.Command("true")
		if err := command.Start(); err != nil { // without a Wait
			t.Fatal(err)
		}
		pids = append(pids, command.Process.Pid)
	}
	for _, pid := range pids {
		// Still a child: it runs, or has ended and is not collected yet.
		for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			reap()
		}
	}
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("wait: %v, want that no child is left", err)
	}
	reap() // without children it returns
}

package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// notify calls a function at an interrupt of this process, as main does.
func notify(t *testing.T, c chan os.Signal, do func()) {
	t.Helper()
	signal.Notify(c, syscall.SIGINT)
	t.Cleanup(func() { signal.Stop(c); close(c) })
	go func() {
		if _, ok := <-c; ok {
			do()
		}
	}()
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/command"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// excuses are the tries of the page in which /proc/pressure showed that the machine was busy.
var excuses pressure.Excuses

// plugin is the name under which this program is kubectl-loadtest.
const plugin = "kubectl-loadtest"

// TestMain makes this program the plugin, or one of its workers, if it was started as one.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == plugin || len(os.Args) == 2 && os.Args[1] == "local-worker" {
		os.Exit(command.Execute(context.Background(), os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(excuses.Run(m.Run))
}

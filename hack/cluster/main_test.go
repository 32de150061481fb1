package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

func TestWrongCommandLinesAreUsageErrors(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no command":         {nil, "which command"},
		"an unknown one":     {[]string{"start"}, `no command "start"`},
		"an argument to up":  {[]string{"up", "now"}, "takes no argument"},
		"an unknown flag":    {[]string{"down", "--force"}, "force"},
		"a flag of another":  {[]string{"down", "--install"}, "install"},
		"no archive to load": {[]string{"load"}, "which archives"},
		"no node":            {[]string{"node", "stop"}, "node stop N"},
		"a node too many":    {[]string{"node", "stop", "4"}, "node-1 to node-3"},
		"no verb for a node": {[]string{"node", "2", "stop"}, "no node"},
		"no verb":            {[]string{"apiserver"}, "apiserver stop"},
		"another verb":       {[]string{"apiserver", "kill"}, "apiserver stop"},
	} {
		t.Run(name, func(t *testing.T) {
			err := parse(t, test.args)
			if !errors.As(err, &usageError{}) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want a usage error with %q", err, test.want)
			}
		})
	}
}

// parse runs the command line as far as it does without a host.
func parse(t *testing.T, args []string) error {
	t.Helper()
	if len(args) == 0 || find(args[0]) == nil {
		return run(t.Context(), args)
	}
	o, err := find(args[0]).parse(args[1:])
	if err != nil {
		return err
	}
	return o.check(args[0])
}

func TestHelpIsNoError(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		if err := run(t.Context(), args); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
	for _, c := range commands {
		if err := run(t.Context(), []string{c.name, "--help"}); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s --help: %v", c.name, err)
		}
	}
}

func TestHelpListsTheCommands(t *testing.T) {
	var text bytes.Buffer
	printHelp(&text)
	for _, c := range commands {
		if !strings.Contains(text.String(), "\n  "+c.name+" ") || c.summary == "" {
			t.Errorf("help does not describe %s", c.name)
		}
	}
	for _, want := range []string{"KUBECONFIG", "LOADTEST_CACHE", "cluster down", "--install"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("help does not mention %s", want)
		}
	}
	if strings.Contains(text.String(), "%!") {
		t.Errorf("help is not formatted:\n%s", text.String())
	}
}

func TestStateFolderMayBeRelative(t *testing.T) {
	o, err := find("status").parse([]string{"--state-dir", "here"})
	must.Succeed(t, err)
	folder, err := os.Getwd()
	must.Succeed(t, err)
	if got, want := o.cluster.Layout.State, folder+"/here"; got != want {
		t.Errorf("state folder is %q, want %q", got, want)
	}
}

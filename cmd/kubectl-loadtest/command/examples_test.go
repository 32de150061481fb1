package command

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/draft"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Every example of a help text is a command line that the plugin takes.
func TestExamplesParse(t *testing.T) {
	var look func(*cobra.Command)
	tried := 0
	look = func(command *cobra.Command) {
		for _, args := range examples(t, command.Example) {
			tried++
			if err := parseArgs(args); err != nil {
				t.Errorf("%s: kubectl loadtest %s: %v", command.Name(), strings.Join(args, " "), err)
			}
		}
		for _, below := range command.Commands() {
			look(below)
		}
	}
	root := newRoot(Streams{})
	look(root)
	if tried < 30 {
		t.Errorf("only %d examples were found", tried)
	}
	for _, command := range root.Commands() {
		if command.Example == "" && !command.Hidden && command.Name() != "version" {
			t.Errorf("%s has no example", command.Name())
		}
	}
	for _, wrong := range [][]string{{"run"}, {"plan", "-f", "a", "--fast"}, {"watch"}, {"cancel"}, {"list", "a"}} {
		if parseArgs(wrong) == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

// examples are the arguments of kubectl loadtest in a text of shell commands.
func examples(t *testing.T, text string) (list [][]string) {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok {
			words, err := expand.Fields(&expand.Config{}, call.Args...)
			must.Succeed(t, err)
			if len(words) > 1 && words[0] == "kubectl" && words[1] == "loadtest" {
				list = append(list, words[2:])
			}
		}
		return true
	})
	return list
}

// parseArgs does all that is done before a command runs.
func parseArgs(args []string) error {
	command, rest, err := newRoot(Streams{}).Find(args)
	if err != nil {
		return err
	}
	if command.DisableFlagParsing {
		rest, err = new(initOptions).takeOwn(rest)
		if err == nil {
			_, err = draft.FromCurl(rest)
		}
		return err
	}
	if err := command.ParseFlags(rest); err != nil {
		return err
	}
	if err := errors.Join(command.ValidateRequiredFlags(), command.ValidateFlagGroups()); err != nil {
		return err
	}
	return command.ValidateArgs(command.Flags().Args())
}

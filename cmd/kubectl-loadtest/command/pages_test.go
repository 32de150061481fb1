package command

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/hack/docs/console"
	pages "github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// currentPages are the pages that are written by hand and kept up to date, by name: records of
// decisions and of measurements say what was.
func currentPages(t *testing.T) map[string][]byte {
	t.Helper()
	const root = "../../.."
	texts := map[string][]byte{}
	read := func(name string) {
		text := must.ReadFile(t, filepath.Join(root, name))
		texts[name] = text
	}
	err := fs.WalkDir(os.DirFS(root), "docs", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "docs/design" || name == "docs/results" || name == "docs/reference":
			return fs.SkipDir
		case filepath.Ext(name) == ".md":
			read(name)
		}
		return nil
	})
	must.Succeed(t, err)
	read("README.md")
	return texts
}

// commandsOf are the commands of kubectl loadtest in the blocks of a page, as far as they are a shell's.
func commandsOf(t *testing.T, text []byte) (list [][]string) {
	t.Helper()
	for _, b := range pages.Parse(text).Blocks {
		switch b.Language {
		case "sh":
			list = append(list, examples(t, b.Text)...)
		case "console":
			for _, c := range console.Parse(b.Text) {
				list = append(list, examples(t, c.Line)...)
			}
		case "":
			for line := range strings.Lines(b.Text) {
				if strings.HasPrefix(line, "kubectl loadtest ") {
					list = append(list, examples(t, line)...)
				}
			}
		}
	}
	return list
}

// inline is a command in a line of text, which may leave out arguments.
var inline = regexp.MustCompile("`kubectl loadtest ([a-z][^`]*)`")

// nameFlags does what parseArgs does, and accepts that arguments and values are left out.
func nameFlags(args []string) error {
	command, rest, err := newRoot(Streams{}).Find(args[:1])
	if err != nil || command.DisableFlagParsing || len(rest) > 0 {
		return err
	}
	for _, arg := range args[1:] {
		name, _, _ := strings.Cut(arg, "=")
		long, isLong := strings.CutPrefix(name, "--")
		switch {
		case isLong && command.Flag(long) == nil:
			return fmt.Errorf("unknown flag %s", name)
		case !isLong && len(name) == 2 && name[0] == '-' && command.Flags().ShorthandLookup(name[1:]) == nil && command.InheritedFlags().ShorthandLookup(name[1:]) == nil:
			return fmt.Errorf("unknown flag %s", name)
		}
	}
	return nil
}

// TestCommandsOfPagesParse holds that the plugin takes every command that a page shows, and has
// every command and flag that its text names.
func TestCommandsOfPagesParse(t *testing.T) {
	found := 0
	check := func(name string, args []string, parse func([]string) error) {
		found++
		if err := parse(args); err != nil {
			t.Errorf("%s: kubectl loadtest %s: %v", name, strings.Join(args, " "), err)
		}
	}
	for name, text := range currentPages(t) {
		for _, args := range commandsOf(t, text) {
			check(name, args, parseArgs)
		}
		for _, m := range inline.FindAllSubmatch(text, -1) {
			check(name, strings.Fields(string(m[1])), nameFlags)
		}
	}
	if found < 100 {
		t.Errorf("%d commands were found only", found)
	}
	for _, args := range commandsOf(t, []byte("```sh\nkubectl get pods && kubectl loadtest stop now\n```\n\n```console\n$ kubectl loadtest plan --fast\n```\n")) {
		if parseArgs(args) == nil {
			t.Errorf("%v is taken", args)
		}
	}
	for _, wrong := range []string{"go", "run --fast", "report -q", "run --local=x --with-speed=2"} {
		if nameFlags(strings.Fields(wrong)) == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

// TestManifestsOfPagesPlan plans every whole manifest that a page shows, which validates it first.
func TestManifestsOfPagesPlan(t *testing.T) {
	folder, planned := t.TempDir(), map[string]int{}
	args := []string{"plan"}
	for name, text := range currentPages(t) {
		for _, b := range pages.Parse(text).Blocks {
			if b.Language != "yaml" || !isWhole(b.Text) || name == "README.md" && strings.Contains(b.Text, "# …") { // which is left out
				continue
			}
			planned[name]++
			file := filepath.Join(folder, fmt.Sprintf("%s, block of line %d", filepath.Base(name), b.Line))
			must.Succeed(t, os.WriteFile(file, []byte(b.Text), 0o600))
			args = append(args, "-f", file)
		}
	}
	var out, log bytes.Buffer
	if code := Execute(t.Context(), args, Streams{Out: &out, Err: &log}); code != exitcode.Passed {
		t.Errorf("plan ends with %d: %s", code, log.String())
	}
	for name, least := range map[string]int{"README.md": 1, "docs/recipes.md": 18, "docs/first-half-hour.md": 2, "docs/search.md": 1, "docs/authentication.md": 3} {
		if planned[name] < least {
			t.Errorf("%s has %d whole manifests, want %d or more", name, planned[name], least)
		}
	}
}

// isWhole says whether a block has a whole LoadTest or LoadTestSchedule.
func isWhole(block string) bool {
	for _, document := range strings.Split(block, "\n---\n") {
		var object struct{ APIVersion, Kind string }
		if yaml.Unmarshal([]byte(document), &object) == nil && object.APIVersion == v1beta1.GroupVersion.String() {
			return true
		}
	}
	return false
}

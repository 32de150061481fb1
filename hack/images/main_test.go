package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
	"github.com/loadtest-dev/loadtest-operator/hack/images/debimage"
	"github.com/loadtest-dev/loadtest-operator/hack/images/goimage"
	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
)

func TestWrongCommandLinesAreExplained(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no command":      {nil, "which command? build, list, push, release, kafka or deps; --help explains them"},
		"unknown command": {[]string{"pull"}, `unknown command "pull": the commands are build, list, push, release, kafka and deps; --help explains them`},
		"unknown flag":    {[]string{"build", "--push"}, "flag provided but not defined: -push; --help explains the flags"},
		"kafka of what":   {[]string{"kafka", "unlock"}, `unknown arguments ["unlock"]: want none, or lock`},
		"deps of what":    {[]string{"deps", "demo"}, `nothing is known of "demo": the suite that needs more is ecosystem`},
		"unknown image":   {[]string{"build", "postgre"}, `unknown image "postgre": the images are ` + names()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), tt.args, &bytes.Buffer{}, &bytes.Buffer{})
			if err == nil || err.Error() != tt.want {
				t.Errorf("error = %v, want %s", err, tt.want)
			}
		})
	}
}

func TestHelpExplainsEveryFlag(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}, {"build", "--help"}, {"push", "--help"}, {"deps", "--help"}, {"kafka", "--help"}} {
		var out bytes.Buffer
		if err := run(t.Context(), args, &out, &bytes.Buffer{}); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		if out.String() != usage {
			t.Errorf("%q printed %q, want the usage", args, out.String())
		}
	}
	for _, flag := range []string{"--out", "--install", "--fresh", "--registry", "--version"} {
		if !strings.Contains(usage, flag) {
			t.Errorf("the usage does not explain %s", flag)
		}
	}
}

// A failed image does not stop the others, and a second build changes nothing.
func TestAFailedImageStopsNoOther(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.com/hello\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n", "ca.crt": "x",
	} {
		must.Succeed(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o600))
	}
	var out bytes.Buffer
	b := &builder{
		out:    t.TempDir(),
		golang: goimage.Builder{Root: root, BinDir: t.TempDir(), Certificates: filepath.Join(root, "ca.crt")},
		debian: debimage.Builder{AptDir: root},
		w:      &lines{w: &out},
	}
	images := []recipe.Image{
		{Name: "missing", Go: &recipe.Go{Package: "./missing", Binary: "missing"}},
		{Name: "hello", Go: &recipe.Go{Package: ".", Binary: "hello"}},
		{Name: "nothing"},
	}
	for _, outcome := range []string{"built", "cached"} {
		out.Reset()
		err := b.buildAll(t.Context(), images)
		if want := "2 of 3 images failed: missing, nothing"; err == nil || err.Error() != want {
			t.Errorf("error = %v, want %s", err, want)
		}
		want := "loadtest.dev/missing:dev failed after N s: no Go package at ./missing\n" +
			"loadtest.dev/hello:dev N MB N " + outcome + " N s\n" +
			"loadtest.dev/nothing:dev failed after N s: the recipe names neither a Go package nor Debian packages\n"
		got := slices.Sorted(strings.Lines(withoutNumbers(out.String()))) // two lines are printed side by side
		same.As(t, "output", slices.Sorted(strings.Lines(want)), got)
	}
}

var numbers = regexp.MustCompile(`sha256:[0-9a-f]{12}|[0-9]+\.[0-9]`)

// withoutNumbers is the text with N for what differs between builds, in columns
// of one space.
func withoutNumbers(s string) string {
	s = regexp.MustCompile(` +`).ReplaceAllString(s, " ")
	return numbers.ReplaceAllString(s, "N")
}

func names() string {
	var all []string
	for _, image := range recipe.All() {
		all = append(all, image.Name)
	}
	return strings.Join(all, ", ")
}
